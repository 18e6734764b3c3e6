/** The field of one part of a form by schema: whichever of the fields fits its shape, with its parts inside. */

import { Plus, Trash2 } from "lucide-react";
import { useContext, useState } from "react";
import { type Text, useText } from "../i18n/text.ts";
import { Button, IconButton } from "./Button.tsx";
import { CheckField, SelectField, TextArea, TextField } from "./Field.tsx";
import type { Json } from "./JsonTree.tsx";
import {
  initialOf,
  isObject,
  type JsonSchema,
  resolved,
  type Shape,
  shapeOf,
  type TextInput,
  wordsOf,
} from "./json-schema.ts";
import { pointer } from "./schema-check.ts";
import { FormContext, useProblem } from "./schema-context.ts";

interface SchemaFieldProps {
  readonly name: string;
  readonly path: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
  readonly depth: number;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}

export function SchemaField(props: SchemaFieldProps) {
  const { root } = useContext(FormContext);
  const schema = resolved(props.schema, root);
  const shape = shapeOf(schema, props.depth);
  switch (shape.kind) {
    case "group":
      return <Group {...props} schema={schema} shape={shape} />;
    case "list":
      return <List {...props} schema={schema} shape={shape} />;
    case "json":
      return (
        <JsonText {...labels(props, schema)} path={props.path} value={props.value} onChange={props.onChange} all />
      );
    default:
      return <Leaf {...props} schema={schema} shape={shape} />;
  }
}

type Leafy = Extract<Shape, { readonly kind: "text" | "number" | "flag" | "choice" }>;

function Leaf({ shape, schema, value, onChange, path, ...rest }: SchemaFieldProps & { readonly shape: Leafy }) {
  const text = useText();
  const { problem, onBlur } = useProblem(path);
  const shared = { ...labels(rest, schema, text), problem, onBlur, required: rest.required, value, onChange };
  if (shape.kind === "number") return <NumberField {...shared} />;
  if (shape.kind === "text") return <WrittenField {...shared} input={shape.input} long={shape.long} />;
  if (shape.kind === "choice") return <ChoiceField {...shared} options={shape.options} wordFor={String} />;
  if (rest.required) return <FlagField {...shared} />;
  return (
    <ChoiceField {...shared} options={[true, false]} wordFor={(one) => text(one ? "ui.form.yes" : "ui.form.no")} />
  );
}

interface LeafProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly problem: string | undefined;
  readonly required: boolean;
  readonly onBlur: () => void;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}

function FlagField({ label, hint, problem, value, onChange }: LeafProps) {
  const told = problem ?? hint;
  return (
    <CheckField
      label={label}
      {...(told ? { hint: told } : {})}
      checked={value === true}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
}

interface ChoiceProps extends LeafProps {
  readonly options: readonly Json[];
  readonly wordFor: (option: Json) => string;
}

function ChoiceField({ options, wordFor, value, onChange, ...rest }: ChoiceProps) {
  const text = useText();
  return (
    <SelectField
      {...rest}
      value={value === undefined ? "" : String(options.indexOf(value))}
      onChange={(event) => onChange(event.target.value === "" ? undefined : options[Number(event.target.value)])}
    >
      {value === undefined || !rest.required ? <option value="">{text("ui.form.unset")}</option> : null}
      {options.map((option, at) => (
        <option key={String(option)} value={at}>
          {wordFor(option)}
        </option>
      ))}
    </SelectField>
  );
}

function WrittenField({
  input,
  long,
  value,
  onChange,
  ...rest
}: LeafProps & { readonly input: TextInput; readonly long: boolean }) {
  const written = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
  const write = (event: { readonly target: { readonly value: string } }): void =>
    onChange(event.target.value === "" && !rest.required ? undefined : event.target.value);
  return long ? (
    <TextArea {...rest} value={written} onChange={write} />
  ) : (
    <TextField {...rest} type={input} autoComplete="off" value={written} onChange={write} />
  );
}

/** What is not a number stays as it is written, for the check to say so. */
function NumberField({ value, onChange, ...rest }: LeafProps) {
  const [draft, setDraft] = useState("");
  const written = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  return (
    <TextField
      {...rest}
      inputMode="decimal"
      autoComplete="off"
      value={numberIn(draft) === value ? draft : written}
      onChange={(event) => {
        setDraft(event.target.value);
        onChange(numberIn(event.target.value));
      }}
    />
  );
}

function numberIn(draft: string): Json | undefined {
  const trimmed = draft.trim();
  if (trimmed === "") return undefined;
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : draft;
}

function Group({
  shape,
  schema,
  value,
  onChange,
  path,
  ...rest
}: SchemaFieldProps & { readonly shape: Extract<Shape, { readonly kind: "group" }> }) {
  const text = useText();
  const { root } = useContext(FormContext);
  const { problem } = useProblem(path);
  const given = isObject(value) ? value : {};
  const put = (name: string, part: Json | undefined): void => {
    const { [name]: _, ...others } = given;
    onChange(part === undefined ? others : { ...given, [name]: part });
  };
  const fields = shape.parts.map((part) => (
    <SchemaField
      key={part.name}
      {...part}
      path={pointer(path, part.name)}
      depth={rest.depth + 1}
      value={given[part.name]}
      onChange={(next) => put(part.name, next)}
    />
  ));
  if (rest.depth === 0) {
    return fields.length > 0 ? <div>{fields}</div> : <p className="schema-form-empty">{text("ui.form.nothing")}</p>;
  }
  const { label, hint } = labels(rest, schema, text);
  const isThere = value !== undefined || rest.required;
  return (
    <fieldset className="schema-form-group">
      <legend>{label}</legend>
      {hint ? <p className="field-hint">{hint}</p> : null}
      {isThere ? fields : null}
      {rest.required ? null : (
        <Button small onClick={() => onChange(isThere ? undefined : (initialOf(schema, root, rest.depth) ?? {}))}>
          {text(isThere ? "ui.form.leave_out" : "ui.form.fill_in")}
        </Button>
      )}
      {problem ? <Problem words={problem} /> : null}
    </fieldset>
  );
}

function List({
  shape,
  schema,
  value,
  onChange,
  path,
  ...rest
}: SchemaFieldProps & { readonly shape: Extract<Shape, { readonly kind: "list" }> }) {
  const text = useText();
  const { root } = useContext(FormContext);
  const { problem } = useProblem(path);
  const given: readonly Json[] = Array.isArray(value) ? value : [];
  const { label, hint } = labels(rest, schema, text);
  const write = (next: readonly Json[]): void => onChange(next.length === 0 && !rest.required ? undefined : next);
  const { maxItems } = schema;
  const isFull = typeof maxItems === "number" && given.length >= maxItems;
  return (
    <fieldset className="schema-form-group">
      <legend>{label}</legend>
      {hint ? <p className="field-hint">{hint}</p> : null}
      <ol>
        {given.map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry is known by its place alone
          <li key={at} className="schema-form-entry">
            <SchemaField
              name={`${at + 1}`}
              path={pointer(path, at)}
              schema={shape.items}
              required
              depth={rest.depth + 1}
              value={one}
              onChange={(next) => write(given.map((old, place) => (place === at ? (next ?? null) : old)))}
            />
            <IconButton
              small
              icon={Trash2}
              label={text("ui.form.remove", { n: at + 1 })}
              onClick={() => write(given.filter((_, place) => place !== at))}
            />
          </li>
        ))}
      </ol>
      <Button
        small
        icon={Plus}
        disabled={isFull}
        onClick={() => write([...given, initialOf(shape.items, root, rest.depth + 1) ?? blank(shape.items, root)])}
      >
        {text("ui.form.add")}
      </Button>
      {problem ? <Problem words={problem} /> : null}
    </fieldset>
  );
}

/** A new entry that has no default: empty text where that is a text, else nothing. */
function blank(schema: JsonSchema, root: JsonSchema): Json {
  const shape = shapeOf(resolved(schema, root));
  if (shape.kind === "choice") return shape.options[0] ?? null;
  return shape.kind === "text" ? "" : null;
}

function Problem({ words }: { readonly words: string }) {
  return (
    <p className="field-problem" role="alert">
      {words}
    </p>
  );
}

interface JsonTextProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly path: string;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
  readonly rows?: number;
  readonly all?: boolean;
}

/** A value as JSON. What is not JSON is kept as it is written, and is no value. */
export function JsonText({ label, hint, path, value, onChange, rows = 3, all = false }: JsonTextProps) {
  const text = useText();
  const { problem, onBlur } = useProblem(path, all);
  const [draft, setDraft] = useState(() => shownJson(value));
  const parsed = jsonIn(draft);
  const isOwn = value === undefined ? parsed === undefined : JSON.stringify(parsed) === JSON.stringify(value);
  const isBroken = draft.trim() !== "" && parsed === undefined;
  return (
    <TextArea
      label={label}
      hint={hint}
      problem={isBroken && isOwn ? text("ui.form.not_json") : problem}
      rows={rows}
      spellCheck={false}
      value={isOwn ? draft : shownJson(value)}
      onBlur={onBlur}
      onChange={(event) => {
        setDraft(event.target.value);
        onChange(jsonIn(event.target.value));
      }}
    />
  );
}

function jsonIn(draft: string): Json | undefined {
  try {
    return JSON.parse(draft) as Json;
  } catch {
    return undefined;
  }
}

function shownJson(value: Json | undefined): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

interface Labels {
  readonly label: string;
  readonly hint: string | undefined;
}

/** What a field is called, and what is said below it: its description and its limits. */
function labels(
  { name, required }: Pick<SchemaFieldProps, "name" | "required">,
  schema: JsonSchema,
  text?: Text,
): Labels {
  const called = wordsOf(schema, "title") ?? name;
  const hints = [wordsOf(schema, "description"), text ? limits(schema, text) : undefined].filter(Boolean);
  return { label: required ? `${called} *` : called, hint: hints.length > 0 ? hints.join(" · ") : undefined };
}

function limits(schema: JsonSchema, text: Text): string | undefined {
  const { minimum, maximum, maxLength, maxItems, pattern } = schema;
  if (typeof minimum === "number" && typeof maximum === "number") return `${minimum} – ${maximum}`;
  if (typeof minimum === "number") return text("ui.form.at_least", { n: minimum });
  if (typeof maximum === "number") return text("ui.form.at_most", { n: maximum });
  if (typeof pattern === "string") return text("ui.form.pattern", { pattern });
  if (typeof maxLength === "number") return text("ui.form.too_long", { n: maxLength });
  return typeof maxItems === "number" ? text("ui.form.too_many", { n: maxItems }) : undefined;
}
