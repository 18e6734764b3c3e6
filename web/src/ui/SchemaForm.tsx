/**
 * A form for any value that a JSON Schema describes, with the same value as JSON for what no field is made for.
 *
 * It keeps no value of its own: `value` comes from above (`initialOf` makes the first), `onChange` takes it back, and
 * `undefined` stands for a text that is not JSON. What is wrong is said beside a field once it has been left, and
 * everywhere with `showProblems`; ask `problemsOf` before sending anything.
 */

import { useMemo, useState } from "react";
import { useText } from "../i18n/text.ts";
import type { Json } from "./JsonTree.tsx";
import { type JsonSchema, resolved, shapeOf } from "./json-schema.ts";
import { JsonText, SchemaField } from "./SchemaField.tsx";
import "./schema-form.css";
import { problemsOf } from "./schema-check.ts";
import { FormContext } from "./schema-context.ts";

interface SchemaFormProps {
  readonly schema: JsonSchema;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
  readonly showProblems?: boolean;
  /** The name of the whole, for readers. */
  readonly label: string;
}

export function SchemaForm({ schema, value, onChange, showProblems = false, label }: SchemaFormProps) {
  const text = useText();
  const whole = useMemo(() => resolved(schema, schema), [schema]);
  const hasFields = shapeOf(whole).kind === "group";
  const [asJson, setAsJson] = useState(!hasFields);
  const problems = useMemo(() => problemsOf(schema, value), [schema, value]);
  const context = useMemo(() => ({ root: schema, problems, showProblems }), [schema, problems, showProblems]);
  return (
    <FormContext value={context}>
      <section className="schema-form" aria-label={label}>
        {hasFields ? (
          <fieldset className="schema-form-switch">
            <legend className="visually-hidden">{text("ui.form.view")}</legend>
            {([false, true] as const).map((json) => (
              <button
                key={String(json)}
                type="button"
                aria-pressed={asJson === json}
                disabled={!json && value === undefined}
                onClick={() => setAsJson(json)}
              >
                {text(json ? "ui.form.as_json" : "ui.form.as_form")}
              </button>
            ))}
          </fieldset>
        ) : null}
        {asJson ? (
          <JsonText label={label} path="" value={value} rows={8} onChange={onChange} all />
        ) : (
          <SchemaField name="" path="" schema={whole} required depth={0} value={value} onChange={onChange} />
        )}
      </section>
    </FormContext>
  );
}
