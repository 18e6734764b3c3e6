/** A JSON value as a tree that opens and closes, for people who look at arguments and results. */

import { useState } from "react";
import "./json-tree.css";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const OPEN_DEPTH = 2;
const FIRST_SHOWN = 100;

export function JsonTree({
  value,
  name,
  depth = 0,
}: {
  readonly value: Json;
  readonly name?: string;
  readonly depth?: number;
}) {
  if (value === null || typeof value !== "object") {
    return (
      <div className="json-row">
        {name === undefined ? null : <span className="json-name">{name}</span>}
        <Leaf value={value} />
      </div>
    );
  }
  return <Branch value={value} depth={depth} {...(name === undefined ? {} : { name })} />;
}

function Branch({
  value,
  name,
  depth,
}: {
  readonly value: readonly Json[] | { readonly [key: string]: Json };
  readonly name?: string;
  readonly depth: number;
}) {
  const [shown, setShown] = useState(FIRST_SHOWN);
  const isList = Array.isArray(value);
  const entries = Object.entries(value) as [string, Json][];
  const summary = isList ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <details className="json-branch" open={depth < OPEN_DEPTH}>
      <summary>
        {name === undefined ? null : <span className="json-name">{name}</span>}
        <span className="json-size">{summary}</span>
      </summary>
      <div className="json-inside">
        {entries.slice(0, shown).map(([key, inner]) => (
          <JsonTree key={key} name={key} value={inner} depth={depth + 1} />
        ))}
        {entries.length > shown ? (
          <button type="button" className="json-more" onClick={() => setShown(shown + 1000)}>
            +{entries.length - shown}
          </button>
        ) : null}
      </div>
    </details>
  );
}

function Leaf({ value }: { readonly value: null | boolean | number | string }) {
  if (typeof value === "string") return <span className="json-text">{value}</span>;
  return <span className="json-word">{String(value)}</span>;
}
