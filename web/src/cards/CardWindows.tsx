/** The windows about card packages: what is installed, installing one, and consent. */

import { ConsentDialog } from "./ConsentDialog.tsx";
import type { CardsView } from "./dialogs.ts";
import { InstallDialog } from "./InstallDialog.tsx";
import { PackagesDialog } from "./PackagesDialog.tsx";

export function CardWindows({ shown }: { readonly shown: CardsView }) {
  switch (shown.view) {
    case "packages":
      return <PackagesDialog />;
    case "install":
      return <InstallDialog />;
    case "consent":
      return <ConsentDialog key={`${shown.package.package}:${shown.package.digest}`} offer={shown.package} />;
  }
}
