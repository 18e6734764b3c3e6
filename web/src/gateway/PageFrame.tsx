/** What every page of the gateway has: a title, a sentence about it, and what can be done. */

import type { ReactNode } from "react";
import "./page-frame.css";

interface PageFrameProps {
  readonly title: string;
  readonly text?: string;
  readonly before?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function PageFrame({ title, text, before, actions, children }: PageFrameProps) {
  return (
    <div className="page-frame">
      {before}
      <header className="page-frame-head">
        <div className="page-frame-words">
          <h1>{title}</h1>
          {text ? <p>{text}</p> : null}
        </div>
        <div className="page-frame-actions">{actions}</div>
      </header>
      {children}
    </div>
  );
}
