/** What the fields of one form share: the schema that references point into, and what is wrong with the value. */

import { createContext, useContext, useState } from "react";
import { useText } from "../i18n/text.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { Problem } from "./schema-check.ts";

export interface FormShared {
  readonly root: JsonSchema;
  readonly problems: readonly Problem[];
  readonly showProblems: boolean;
}

export const FormContext = createContext<FormShared>({ root: {}, problems: [], showProblems: false });

interface Told {
  /** In words, once the user has been there. */
  readonly problem: string | undefined;
  readonly onBlur: () => void;
}

/** What is wrong at a place; `all` takes what lies below it too. */
export function useProblem(path: string, all = false): Told {
  const text = useText();
  const [left, setLeft] = useState(false);
  const { problems, showProblems } = useContext(FormContext);
  const found = problems.find((one) => one.path === path || (all && one.path.startsWith(`${path}/`)));
  const where = found && found.path !== path ? `${found.path.slice(path.length + 1)}: ` : "";
  const problem = found && (left || showProblems) ? where + text(found.key, found.values) : undefined;
  return { problem, onBlur: () => setLeft(true) };
}
