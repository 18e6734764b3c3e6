/** The page: its shell, and in it what the address means. */

import { Compass } from "lucide-react";
import { lazy, Suspense, useEffect } from "react";
import { onSignedOut } from "../api/client.ts";
import { CanvasPage } from "../canvas/CanvasPage.tsx";
import { Confirmations } from "../cards/Confirmations.tsx";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { Empty, Waiting } from "../ui/Empty.tsx";
import { TipProvider } from "../ui/Tip.tsx";
import { Toasts } from "../ui/Toasts.tsx";
import { go, useRoute } from "./routes.ts";
import { Shell } from "./Shell.tsx";

// Pages that are not there at the first look come when they are wanted.
const GatewayPage = lazy(async () => ({ default: (await import("../gateway/GatewayPage.tsx")).GatewayPage }));

export function App() {
  useEffect(() => onSignedOut(() => window.location.assign("/sign-in")), []);
  return (
    <TipProvider delayDuration={400}>
      <Shell>
        <Page />
      </Shell>
      <Confirmations />
      <Toasts />
    </TipProvider>
  );
}

function Page() {
  const text = useText();
  const route = useRoute();
  if (route.page === "canvas") return <CanvasPage workspace={route.workspace} />;
  if (route.page === "gateway") {
    return (
      <Suspense fallback={<Waiting label={text("app.loading")} />}>
        <GatewayPage section={route.section} rest={route.rest} />
      </Suspense>
    );
  }
  const back = (
    <Button tone="primary" onClick={() => go({ page: "canvas", workspace: undefined })}>
      {text("app.to_canvas")}
    </Button>
  );
  return <Empty icon={Compass} title={text("app.not_found")} action={back} />;
}
