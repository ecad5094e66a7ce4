// Buttons.
import type { ComponentChildren, Ref } from "preact";
import { Icon, type IconName } from "./Icon";

export interface ButtonProps {
  children?: ComponentChildren;
  onClick?: ((event: MouseEvent) => void) | undefined;
  kind?: "plain" | "primary" | "quiet" | "danger";
  size?: "normal" | "small";
  icon?: IconName | undefined;
  /** The name of a button that shows only an icon; also its tooltip. */
  label?: string | undefined;
  disabled?: boolean | undefined;
  /** For a button that stays down. */
  pressed?: boolean | undefined;
  /** A shortcut for `aria-keyshortcuts`. */
  keys?: string | undefined;
  class?: string;
  buttonRef?: Ref<HTMLButtonElement>;
}

/** A button that does something; for one that goes somewhere take a link with class `button`. */
export function Button(props: ButtonProps) {
  const { children, kind = "plain", size = "normal", icon, label } = props;
  const classes = ["button"];
  if (kind !== "plain") classes.push(`button-${kind}`);
  if (size === "small") classes.push("button-small");
  if (children === undefined) classes.push("button-icon");
  if (props.class !== undefined) classes.push(props.class);
  return (
    <button
      type="button"
      class={classes.join(" ")}
      onClick={props.onClick}
      disabled={props.disabled}
      aria-label={label}
      title={label}
      aria-pressed={props.pressed}
      aria-keyshortcuts={props.keys}
      ref={props.buttonRef ?? null}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}
