/** What a tool gave back: texts, JSON as a tree, images, links. It is never read as markup: it is others' words. */

import type { Schemas } from "../api/client.ts";
import "./content-view.css";
import { type Json, JsonTree } from "./JsonTree.tsx";

export type Content = Schemas["Answer"]["content"][number];

interface ContentViewProps {
  readonly content: readonly Content[];
  readonly structured?: unknown;
}

export function ContentView({ content, structured }: ContentViewProps) {
  const parts = content.map((part, at) => ({ part, key: `${at}:${part.type}` }));
  return (
    <div className="content-view">
      {structured !== undefined && structured !== null ? <JsonTree value={structured as Json} /> : null}
      {parts.map(({ part, key }) => (
        <Part key={key} part={part} repeats={structured !== undefined && structured !== null} />
      ))}
    </div>
  );
}

/** The text beside a structured result mostly says the same again. */
function Part({ part, repeats }: { readonly part: Content; readonly repeats: boolean }) {
  switch (part.type) {
    case "text":
      return <TextPart text={part.text} repeats={repeats} />;
    case "image":
      return <img className="content-image" src={`data:${part.mimeType};base64,${part.data}`} alt="" />;
    case "audio":
      // biome-ignore lint/a11y/useMediaCaption: there is none to be had of a tool's sound
      return <audio controls src={`data:${part.mimeType};base64,${part.data}`} />;
    case "resource_link":
      return <a href={safe(part.uri)}>{part.name || part.uri}</a>;
    case "resource":
      return <JsonTree value={part.resource as unknown as Json} />;
  }
}

function TextPart({ text, repeats }: { readonly text: string; readonly repeats: boolean }) {
  const value = jsonIn(text);
  if (value !== undefined) return repeats ? null : <JsonTree value={value} />;
  return <p className="content-text">{text}</p>;
}

/** The object or list that a text is, if it is one. */
export function jsonIn(text: string): Json | undefined {
  const start = text.trimStart()[0];
  if (start !== "{" && start !== "[") return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** An address that may be followed; a script in it may not. */
function safe(uri: string): string | undefined {
  return /^https?:\/\//i.test(uri) ? uri : undefined;
}
