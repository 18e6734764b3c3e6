/** Fields of forms: a label, the control, a hint, and what is wrong with the value. */

import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes, TextareaHTMLAttributes } from "react";
import { useId } from "react";
import "./field.css";

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
}

interface FrameProps extends FieldProps {
  readonly id: string;
  readonly children: ReactNode;
}

function Frame({ label, hint, problem, id, children }: FrameProps) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {hint ? (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
      {problem ? (
        <p className="field-problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      ) : null}
    </div>
  );
}

function described(id: string, { hint, problem }: FieldProps) {
  const ids = [hint ? `${id}-hint` : "", problem ? `${id}-problem` : ""].filter(Boolean).join(" ");
  return { "aria-describedby": ids || undefined, "aria-invalid": problem ? true : undefined };
}

export function TextField({
  label,
  hint,
  problem,
  ...rest
}: FieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, "id">) {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} problem={problem}>
      <input {...rest} id={id} className="control" {...described(id, { label, hint, problem })} />
    </Frame>
  );
}

export function TextArea({
  label,
  hint,
  problem,
  ...rest
}: FieldProps & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "id">) {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} problem={problem}>
      <textarea rows={4} {...rest} id={id} className="control" {...described(id, { label, hint, problem })} />
    </Frame>
  );
}

export function SelectField({
  label,
  hint,
  problem,
  children,
  ...rest
}: FieldProps & Omit<SelectHTMLAttributes<HTMLSelectElement>, "id">) {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} problem={problem}>
      <select {...rest} id={id} className="control" {...described(id, { label, hint, problem })}>
        {children}
      </select>
    </Frame>
  );
}

interface CheckProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "id" | "type"> {
  readonly label: string;
  readonly hint?: string;
}

export function CheckField({ label, hint, ...rest }: CheckProps) {
  const id = useId();
  return (
    <div className="check">
      <input type="checkbox" {...rest} id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
      <label htmlFor={id}>{label}</label>
      {hint ? (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
    </div>
  );
}
