/** Which page an address means, and going there; the browser's history is the only state. */

import { useSyncExternalStore } from "react";

export const SECTIONS = ["agents", "keys", "webhooks", "files", "consents", "audit"] as const;
export type Section = (typeof SECTIONS)[number];

export type Route =
  | { readonly page: "canvas"; readonly workspace: string | undefined }
  | { readonly page: "gateway"; readonly section: Section; readonly rest: string | undefined }
  | { readonly page: "unknown" };

export function routeOf(path: string): Route {
  const [first, second, third] = path.split("/").filter(Boolean).map(decodeURIComponent);
  if (first === undefined) return { page: "canvas", workspace: undefined };
  if (first === "w" && second !== undefined) return { page: "canvas", workspace: second };
  const section = SECTIONS.find((one) => one === second);
  if (first === "gateway" && section) return { page: "gateway", section, rest: third };
  return { page: "unknown" };
}

export function pathOf(route: Route): string {
  if (route.page === "canvas") return route.workspace ? `/w/${encodeURIComponent(route.workspace)}` : "/";
  if (route.page === "gateway") {
    return `/gateway/${route.section}${route.rest ? `/${encodeURIComponent(route.rest)}` : ""}`;
  }
  return "/";
}

const heard = new Set<() => void>();

export function go(route: Route, replace = false): void {
  if (replace) window.history.replaceState(null, "", pathOf(route));
  else window.history.pushState(null, "", pathOf(route));
  for (const listener of [...heard]) listener();
}

export function useRoute(): Route {
  const path = useSyncExternalStore(subscribe, () => window.location.pathname);
  return routeOf(path);
}

function subscribe(listener: () => void): () => void {
  heard.add(listener);
  window.addEventListener("popstate", listener);
  return () => {
    heard.delete(listener);
    window.removeEventListener("popstate", listener);
  };
}
