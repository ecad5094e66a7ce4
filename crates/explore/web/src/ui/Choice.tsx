// Choices: a check mark, one of a few side by side, tabs.
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { HelpMark } from "./Tooltip";

export interface CheckboxProps {
  label: ComponentChildren;
  checked: boolean;
  onChange: (checked: boolean) => void;
  help?: string | undefined;
  disabled?: boolean | undefined;
}

/** Yes or no. */
export function Checkbox(props: CheckboxProps) {
  const id = useId();
  return (
    <span class="row">
      <label class="check">
        <input
          type="checkbox"
          checked={props.checked}
          disabled={props.disabled}
          aria-describedby={props.help === undefined ? undefined : id}
          onChange={(event) => props.onChange(event.currentTarget.checked)}
        />
        {props.label}
      </label>
      {props.help !== undefined && (
        <>
          <HelpMark text={props.help} about={typeof props.label === "string" ? props.label : "this choice"} />
          <span id={id} hidden>
            {props.help}
          </span>
        </>
      )}
    </span>
  );
}

export interface SegmentedProps<T extends string> {
  /** The name of the group; shown above unless `hideLabel`. */
  label: string;
  hideLabel?: boolean;
  help?: string | undefined;
  value: T;
  options: readonly { value: T; label: ComponentChildren; title?: string; disabled?: boolean }[];
  onValue: (value: T) => void;
}

/** One of two to five, all in sight: radio buttons in one bar. */
export function Segmented<T extends string>(props: SegmentedProps<T>) {
  const name = useId();
  return (
    <fieldset class="field">
      <legend class={props.hideLabel === true ? "sr" : "field-head"}>
        <span class="field-label">{props.label}</span>{" "}
        {props.help !== undefined && <HelpMark text={props.help} about={props.label} />}
      </legend>
      <span class="segmented">
        {props.options.map((option) => (
          <label key={option.value} title={option.title}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === props.value}
              disabled={option.disabled}
              onChange={() => props.onValue(option.value)}
            />
            {option.label}
          </label>
        ))}
      </span>
    </fieldset>
  );
}

export interface TabsProps<T extends string> {
  /** What the tabs are about, for screen readers. */
  label: string;
  value: T;
  tabs: readonly { value: T; label: ComponentChildren }[];
  onValue: (value: T) => void;
  /** The panel of the tab that is chosen. */
  children: ComponentChildren;
}

/** Panels behind each other; arrow keys, Home and End choose. */
export function Tabs<T extends string>(props: TabsProps<T>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const choose = (index: number) => {
    const count = props.tabs.length;
    const tab = props.tabs[(index + count) % count];
    if (tab === undefined) return;
    props.onValue(tab.value);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[(index + count) % count]?.focus();
  };
  const key = (event: KeyboardEvent, index: number) => {
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: props.tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
  };
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={props.label} ref={list}>
        {props.tabs.map((tab, index) => {
          const isChosen = tab.value === props.value;
          return (
            <button
              key={tab.value}
              type="button"
              class="tab"
              role="tab"
              id={`${id}-${tab.value}`}
              aria-selected={isChosen}
              aria-controls={`${id}-panel`}
              tabIndex={isChosen ? 0 : -1}
              onClick={() => props.onValue(tab.value)}
              onKeyDown={(event) => key(event, index)}
            >
              {tab.label}
            </button>
          );
        })}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${props.value}`} tabIndex={0}>
        {props.children}
      </div>
    </div>
  );
}
