/** A link to another page of ours, followed without loading this one anew. */

import type { MouseEvent, ReactNode } from "react";
import { go, pathOf, type Route } from "../app/routes.ts";

interface PageLinkProps {
  readonly to: Route;
  readonly className?: string;
  readonly children: ReactNode;
}

export function PageLink({ to, className, children }: PageLinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={pathOf(to)} className={className} onClick={follow}>
      {children}
    </a>
  );
}
