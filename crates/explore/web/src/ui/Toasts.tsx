// The place where toasts and announcements appear; in the page once.
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./Button";
import { announced, closeToast, toasts } from "./toast";

export function Toasts() {
  const box = useRef<HTMLDivElement>(null);
  const all = toasts.value;
  useEffect(() => {
    // Shown again each time, so that toasts lie above a dialog that was opened later.
    box.current?.togglePopover(false);
    if (all.length > 0) box.current?.togglePopover(true);
  }, [all.length]);
  return (
    <>
      <div class="sr" role="status" aria-live="polite">
        {announced.value}
      </div>
      <div ref={box} class="toasts" popover="manual" role="log" aria-label="Notices" aria-live="polite">
        {all.map((one) => (
          <div key={one.id} class={`toast toast-${one.kind}`}>
            <span>{one.text}</span>
            <Button
              kind="quiet"
              size="small"
              icon="close"
              label="Close this notice"
              onClick={() => closeToast(one.id)}
            />
          </div>
        ))}
      </div>
    </>
  );
}
