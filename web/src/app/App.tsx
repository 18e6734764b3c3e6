/** The page: its shell, and in it what the address means. */

import { Compass } from "lucide-react";
import { lazy, Suspense, useEffect, useRef } from "react";
import { onSignedOut } from "../api/client.ts";
import { useBoard } from "../board/store.ts";
import { lastShown } from "../board/workspaces.ts";
import { CanvasPage } from "../canvas/CanvasPage.tsx";
import { CardDialogs } from "../cards/CardDialogs.tsx";
import { Confirmations } from "../cards/Confirmations.tsx";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { Empty, Waiting } from "../ui/Empty.tsx";
import { TipProvider } from "../ui/Tip.tsx";
import { Toasts } from "../ui/Toasts.tsx";
import { go, type Route, useRoute } from "./routes.ts";
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
      <CardDialogs />
      <Confirmations />
      <Toasts />
    </TipProvider>
  );
}

function Page() {
  const route = useRoute();
  const workspace = useKeptWorkspace(route);
  const isCanvas = route.page === "canvas";
  return (
    <>
      {isCanvas || workspace !== undefined ? (
        <div className="app-canvas" hidden={!isCanvas}>
          <CanvasPage workspace={workspace} />
        </div>
      ) : null}
      {isCanvas ? null : <OtherPage route={route} />}
    </>
  );
}

/** The canvas stays behind the other pages, where its cards go on: agents call them all the same. */
function useKeptWorkspace(route: Route): string | undefined {
  const kept = useRef(route.page === "canvas" ? undefined : lastShown());
  if (route.page === "canvas") {
    const isGone = useBoard.getState().problem !== undefined;
    kept.current = route.workspace ?? (isGone ? undefined : kept.current);
  }
  const workspace = kept.current;
  const isUnnamed = route.page === "canvas" && route.workspace === undefined;
  useEffect(() => {
    if (isUnnamed && workspace !== undefined) go({ page: "canvas", workspace }, true);
  }, [isUnnamed, workspace]);
  return workspace;
}

function OtherPage({ route }: { readonly route: Route }) {
  const text = useText();
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
