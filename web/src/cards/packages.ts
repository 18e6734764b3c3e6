/** The owner's card packages: their list, kept current by the feed; it installs nothing by itself. */

import { create } from "zustand";
import { api, ask, messageOf, type Schemas } from "../api/client.ts";
import { onMoments } from "../board/store.ts";

export type CardPackage = Schemas["CardPackage"];

interface PackagesState {
  /** By id, in the order in which they were installed; `undefined` until they are read. */
  readonly all: ReadonlyMap<string, CardPackage> | undefined;
  readonly problem: string | undefined;
}

export const usePackages = create<PackagesState>()(() => ({ all: undefined, problem: undefined }));

let latest = 0;

export async function readPackages(): Promise<void> {
  latest += 1;
  const mine = latest;
  try {
    const { packages } = await ask(api.GET("/api/v1/card-packages"));
    if (mine === latest)
      usePackages.setState({ all: new Map(packages.map((one) => [one.package, one])), problem: undefined });
  } catch (error) {
    if (mine === latest) usePackages.setState({ problem: messageOf(error) });
  }
}

/** A package; `undefined` where there is none, or as long as nothing is known. */
export function usePackage(id: string | null | undefined): CardPackage | undefined {
  return usePackages((state) => (id ? state.all?.get(id) : undefined));
}

onMoments((moments) => {
  if (moments.some((moment) => moment.type === "package" || moment.type === "reset")) void readPackages();
});
