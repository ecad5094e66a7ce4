// Short help on hover and focus, in the top layer; Escape closes it (WCAG 1.4.13).
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { placeBeside } from "./place";

const OPEN_AFTER_MS = 350;
const CLOSE_AFTER_MS = 150;

/**
 * Wraps `children` and shows `text` beside them on hover and on focus within. The words are
 * not announced by this: describe the control with them (`Field` does).
 */
export function Tooltip({ text, children }: { text: ComponentChildren; children: ComponentChildren }) {
  const around = useRef<HTMLSpanElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const timer = useRef(0);
  const later = (show: boolean) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => toggle(show), show ? OPEN_AFTER_MS : CLOSE_AFTER_MS);
  };
  const toggle = (show: boolean) => {
    clearTimeout(timer.current);
    if (tip.current === null || around.current === null || !tip.current.isConnected) return;
    tip.current.togglePopover(show);
    if (show) placeBeside(tip.current, around.current);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <span
      class="tip-around"
      ref={around}
      onPointerEnter={() => later(true)}
      onPointerLeave={() => later(false)}
      onFocusIn={() => toggle(true)}
      onFocusOut={() => toggle(false)}
      onKeyDown={(event) => {
        if (event.key === "Escape" && tip.current?.matches(":popover-open") === true) {
          event.stopPropagation();
          toggle(false);
        }
      }}
    >
      {children}
      <div ref={tip} popover="manual" class="tip" role="tooltip">
        {text}
      </div>
    </span>
  );
}

/**
 * A small "?" that shows `text` on hover and by a click. It is not a stop of the Tab key: the
 * control that it explains is described by the same words and shows them with F1.
 */
export function HelpMark({
  text,
  about,
  mark,
}: {
  text: string;
  about: string;
  mark?: { current: HTMLButtonElement | null };
}) {
  const tip = useRef<HTMLDivElement>(null);
  const own = useRef<HTMLButtonElement>(null);
  const button = mark ?? own;
  const timer = useRef(0);
  const wait = (show: boolean) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(
      () => {
        if (tip.current?.isConnected === true) tip.current.togglePopover(show);
      },
      show ? OPEN_AFTER_MS : CLOSE_AFTER_MS,
    );
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <>
      <button
        ref={button}
        type="button"
        class="help"
        tabIndex={-1}
        aria-label={`Help: ${about}`}
        onClick={() => {
          clearTimeout(timer.current);
          tip.current?.togglePopover();
        }}
        onPointerEnter={() => wait(true)}
        onPointerLeave={() => wait(false)}
      >
        ?
      </button>
      <div
        ref={tip}
        popover="auto"
        class="tip"
        onPointerEnter={() => clearTimeout(timer.current)}
        onPointerLeave={() => wait(false)}
        onToggle={(event) => {
          if (event.newState === "open" && tip.current !== null && button.current !== null) {
            placeBeside(tip.current, button.current);
          }
        }}
      >
        {text}
      </div>
    </>
  );
}
