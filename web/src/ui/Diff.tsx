/** A text that changes: lines that begin with + are added, with - removed. Signs as well as colours tell them apart. */

import "./diff.css";

export function Diff({ label, lines }: { readonly label: string; readonly lines: readonly string[] }) {
  const shown = lines.map((line, at) => ({ line, key: `${at}:${line}` }));
  return (
    <section className="diff" aria-label={label}>
      {shown.map(({ line, key }) => (
        <code key={key} className={`diff-line ${toneOf(line)}`}>
          {line || " "}
        </code>
      ))}
    </section>
  );
}

function toneOf(line: string): string {
  if (line.startsWith("+")) return "diff-added";
  return line.startsWith("-") ? "diff-removed" : "";
}
