// A button that opens a menu in the top layer: arrow keys, Home, End, Escape.
import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./Icon";
import { placeBeside } from "./place";

export interface MenuItem {
  label: string;
  icon?: IconName | undefined;
  /** A word at the right, such as a file's ending. */
  aside?: string | undefined;
  /** More about it, as a tooltip. */
  title?: string | undefined;
  onSelect: () => void;
}

export interface MenuProps {
  /** The button's content and name. */
  button: ComponentChildren;
  label: string;
  title?: string | undefined;
  /** Groups with a line between them. */
  groups: readonly { title?: string; items: readonly MenuItem[] }[];
  class?: string;
  keys?: string;
}

/** A menu behind a button. */
export function Menu({ button, label, title, groups, class: classes = "button button-quiet", keys }: MenuProps) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const items = () => [...(menu.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  const move = (event: KeyboardEvent) => {
    const all = items();
    const now = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Tab") menu.current?.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus();
  };
  return (
    <>
      <button
        ref={opener}
        type="button"
        class={classes}
        popovertarget={id}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        aria-keyshortcuts={keys}
        title={title}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          menu.current?.showPopover();
        }}
      >
        {button}
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        class="menu"
        role="menu"
        aria-label={label}
        onKeyDown={move}
        onToggle={(event) => {
          const opens = event.newState === "open";
          setOpen(opens);
          if (!opens || menu.current === null || opener.current === null) return;
          placeBeside(menu.current, opener.current, "end");
          items()[0]?.focus();
        }}
      >
        {groups.map((group, index) => (
          <div key={group.title ?? index} role="group" aria-label={group.title}>
            {index > 0 && <hr />}
            {group.title !== undefined && (
              <div class="menu-title eyebrow" aria-hidden="true">
                {group.title}
              </div>
            )}
            {group.items.map((item) => (
              <button
                key={item.label}
                type="button"
                role="menuitem"
                tabIndex={-1}
                class="menu-item"
                title={item.title}
                onClick={() => {
                  menu.current?.hidePopover();
                  opener.current?.focus();
                  item.onSelect();
                }}
              >
                {item.icon !== undefined && <Icon name={item.icon} />}
                {item.label}
                {item.aside !== undefined && <span class="muted">{item.aside}</span>}
              </button>
            ))}
          </div>
        ))}
      </div>
    </>
  );
}
