import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test } from "vitest";
import type { Json } from "./JsonTree.tsx";
import { initialOf, type JsonSchema } from "./json-schema.ts";
import { SchemaForm } from "./SchemaForm.tsx";
import { TipProvider } from "./Tip.tsx";

afterEach(cleanup);

let written: Json | undefined;

function Held({ schema }: { readonly schema: JsonSchema }) {
  const [value, setValue] = useState(() => initialOf(schema));
  written = value;
  return (
    <TipProvider>
      <SchemaForm label="Arguments" schema={schema} value={value} onChange={setValue} />
    </TipProvider>
  );
}

function write(label: RegExp, value: string): HTMLElement {
  const field = screen.getByLabelText(label);
  fireEvent.change(field, { target: { value } });
  return field;
}

test("fields make the value, and what is left empty is left out", () => {
  render(
    <Held
      schema={{
        type: "object",
        properties: {
          name: { type: "string", title: "Your name", description: "As others call you" },
          times: { type: "number" },
          loud: { type: "boolean" },
          size: { enum: ["s", "m"] },
        },
        required: ["name"],
      }}
    />,
  );
  write(/Your name \*/, "Ada");
  write(/times/, "1.");
  expect((screen.getByLabelText(/times/) as HTMLInputElement).value).toBe("1.");
  write(/size/, "1");
  write(/loud/, "1");
  expect(written).toEqual({ name: "Ada", times: 1, size: "m", loud: false });
  write(/times/, "");
  write(/size/, "");
  expect(written).toEqual({ name: "Ada", loud: false });
  expect(screen.getByText("As others call you")).toBeTruthy();
});

test("what is wrong is said once the field has been left", () => {
  render(<Held schema={{ type: "object", properties: { n: { type: "integer", maximum: 5 } } }} />);
  const field = write(/^n$/, "many");
  expect(screen.queryByRole("alert")).toBeNull();
  fireEvent.blur(field);
  expect(screen.getByRole("alert").textContent).toBe("Must be a whole number");
  write(/^n$/, "9");
  expect(screen.getByRole("alert").textContent).toBe("At most 5");
  write(/^n$/, "5");
  expect(screen.queryByRole("alert")).toBeNull();
});

test("lists grow and shrink, and objects inside can be left out", () => {
  render(
    <Held
      schema={{
        type: "object",
        properties: {
          tags: { type: "array", items: { type: "string" }, maxItems: 2 },
          limits: { type: "object", properties: { cpu: { type: "number", default: 2 } } },
        },
      }}
    />,
  );
  const add = screen.getByText("Add an entry") as HTMLButtonElement;
  fireEvent.click(add);
  fireEvent.click(add);
  expect(add.disabled).toBe(true);
  write(/2 \*/, "b");
  expect(written).toEqual({ tags: ["", "b"] });
  fireEvent.click(screen.getByLabelText("Remove entry 1"));
  fireEvent.click(screen.getByText("Fill in"));
  expect(written).toEqual({ tags: ["b"], limits: { cpu: 2 } });
  fireEvent.click(screen.getByText("Leave out"));
  fireEvent.click(screen.getByLabelText("Remove entry 1"));
  expect(written).toEqual({});
});

test("the same value can be written as JSON, and what is not JSON is no value", () => {
  render(<Held schema={{ type: "object", properties: { n: { type: "integer" } } }} />);
  write(/^n$/, "3");
  fireEvent.click(screen.getByText("JSON"));
  const field = screen.getByLabelText("Arguments", { selector: "textarea" }) as HTMLTextAreaElement;
  expect(field.value).toBe('{\n  "n": 3\n}');
  fireEvent.change(field, { target: { value: '{"n": 4' } });
  expect(written).toBeUndefined();
  expect(field.value).toBe('{"n": 4');
  expect(screen.getByRole("alert").textContent).toBe("This is not JSON");
  fireEvent.change(field, { target: { value: '{"n": 4}' } });
  fireEvent.click(screen.getByText("Form"));
  expect((screen.getByLabelText("n") as HTMLInputElement).value).toBe("4");
});
