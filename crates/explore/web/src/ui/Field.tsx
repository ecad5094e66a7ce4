// A field: label, help, control, unit, and what is wrong.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useIds } from "./ids";
import { HelpMark } from "./Tooltip";
import { Words } from "./Words";

/** What a control inside of a `Field` carries, so that its label and words belong to it. */
export interface Aria {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: "true";
}

export interface FieldProps {
  label: string;
  /** The help of the option, as the command prints it. Shown by "?", by F1, and read out. */
  help?: string | undefined;
  /** What is wrong with the value; the control turns red and the words are announced. */
  error?: string | undefined;
  /** A word below, such as what is meant by the value. */
  note?: ComponentChildren;
  /** A word at the end of the label's line, such as a default. */
  aside?: ComponentChildren;
  /** Behind the control. */
  unit?: string | undefined;
  /** Label and control on one line. */
  inline?: boolean | undefined;
  /** What stands between the control and the words below, such as a slider. */
  after?: ComponentChildren;
  /** False for a control that needs no box around it. */
  box?: boolean;
  class?: string | undefined;
  children: (aria: Aria) => ComponentChildren;
}

/** Gives a control its label, help, unit and error. */
export function Field(props: FieldProps) {
  const { label, help, error, note } = props;
  const ids = useIds();
  const mark = useRef<HTMLButtonElement>(null);
  const described = [help !== undefined && ids.help, (error !== undefined || note !== undefined) && ids.note];
  const aria: Aria = { id: ids.id };
  const by = described.filter((id) => id !== false).join(" ");
  if (by !== "") aria["aria-describedby"] = by;
  if (error !== undefined) aria["aria-invalid"] = "true";
  const control = props.children(aria);
  const classes = ["field", props.inline === true && "field-line", props.class].filter(Boolean).join(" ");
  return (
    <div
      class={classes}
      onKeyDown={(event) => {
        if (event.key !== "F1" || help === undefined) return;
        event.preventDefault();
        mark.current?.click();
      }}
    >
      <div class="field-head">
        <label class="field-label" for={ids.id}>
          {label}
        </label>
        {help !== undefined && <HelpMark text={help} about={label} mark={mark} />}
        {props.aside !== undefined && <span class="field-aside">{props.aside}</span>}
      </div>
      {props.box === false ? (
        control
      ) : (
        <div class="field-box">
          {control}
          {props.unit !== undefined && <span class="field-unit">{props.unit}</span>}
        </div>
      )}
      {props.after}
      {help !== undefined && (
        <span id={ids.help} hidden>
          {help}
        </span>
      )}
      {error !== undefined ? (
        <span id={ids.note} class="field-error" role="alert">
          <Words text={error} />
        </span>
      ) : (
        note !== undefined && (
          <span id={ids.note} class="field-note">
            {note}
          </span>
        )
      )}
    </div>
  );
}

export type FieldWords = Omit<FieldProps, "children" | "box" | "after">;

export interface TextFieldProps extends FieldWords {
  value: string;
  /** With every key (`isFinal` false), and with Enter or when the field is left (true). */
  onValue: (value: string, isFinal: boolean) => void;
  placeholder?: string | undefined;
  disabled?: boolean | undefined;
  /** Values to choose from besides typing. */
  suggestions?: readonly string[] | undefined;
  inputMode?: "text" | "numeric" | "decimal" | "search" | undefined;
  type?: "text" | "search" | "number";
  name?: string | undefined;
}

/** A line of text. */
export function TextField(props: TextFieldProps) {
  const ids = useIds();
  const list = `${ids.id}-list`;
  return (
    <Field {...words(props)}>
      {(aria) => (
        <>
          <input
            {...aria}
            class="input"
            type={props.type ?? "text"}
            name={props.name}
            value={props.value}
            placeholder={props.placeholder}
            disabled={props.disabled}
            inputMode={props.inputMode}
            autocomplete="off"
            spellcheck={false}
            list={props.suggestions === undefined ? undefined : list}
            onInput={(event) => props.onValue(event.currentTarget.value, false)}
            onChange={(event) => props.onValue(event.currentTarget.value, true)}
          />
          {props.suggestions !== undefined && (
            <datalist id={list}>
              {props.suggestions.map((text) => (
                <option key={text} value={text} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

/** A line of text that counts when it is left or with Enter. */
export function TextOnLeave(props: Omit<TextFieldProps, "onValue"> & { onValue: (value: string) => void }) {
  const [text, setText] = useState(props.value);
  useEffect(() => setText(props.value), [props.value]);
  return (
    <TextField
      {...props}
      value={text}
      onValue={(value, isFinal) => {
        setText(value);
        if (isFinal && value !== props.value) props.onValue(value.trim());
      }}
    />
  );
}

export interface SelectProps extends FieldWords {
  value: string;
  options: readonly (string | { value: string; label: string; disabled?: boolean })[];
  onValue: (value: string) => void;
  disabled?: boolean | undefined;
}

/** One of a few, from the browser's own list. */
export function Select(props: SelectProps) {
  return (
    <Field {...words(props)}>
      {(aria) => (
        <select
          {...aria}
          class="input"
          value={props.value}
          disabled={props.disabled}
          onChange={(event) => props.onValue(event.currentTarget.value)}
        >
          {props.options.map((option) => {
            const one = typeof option === "string" ? { value: option, label: option } : option;
            return (
              <option key={one.value} value={one.value} disabled={"disabled" in one ? one.disabled : undefined}>
                {one.label}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}

/** What a field's frame takes of a control's properties. */
export function words(props: FieldWords): FieldWords {
  const { label, help, error, note, aside, unit, inline } = props;
  return { label, help, error, note, aside, unit, inline, class: props.class };
}
