// Two panes with a bar between them that is dragged, or moved with arrow keys.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

export interface SplitProps {
  /** Kept in the browser under this name. */
  name: string;
  /** What the bar divides, for screen readers: "editor and picture". */
  label: string;
  first: ComponentChildren;
  second: ComponentChildren;
  /** Panes above each other instead of side by side. */
  rows?: boolean;
  /** Share of the first pane at the start, in percent. */
  start?: number;
  class?: string;
}

const LEAST = 15;

export function Split({ name, label, first, second, rows = false, start = 50, class: classes = "" }: SplitProps) {
  const key = `bentpipe.split.${name}`;
  const box = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(() => within(Number(localStorage.getItem(key) ?? start) || start));
  const put = (to: number) => {
    setShare(within(to));
    localStorage.setItem(key, String(Math.round(within(to))));
  };
  const drag = (event: PointerEvent) => {
    const bar = event.currentTarget as HTMLElement;
    if (!bar.hasPointerCapture(event.pointerId) || box.current === null) return;
    const at = box.current.getBoundingClientRect();
    put(rows ? ((event.clientY - at.top) / at.height) * 100 : ((event.clientX - at.left) / at.width) * 100);
  };
  return (
    <div class={`split ${rows ? "split-rows" : ""} ${classes}`} ref={box}>
      <div class="split-pane" style={{ flex: `0 0 calc(${share}% - 2px)` }}>
        {first}
      </div>
      <div
        class="splitter"
        role="separator"
        tabIndex={0}
        aria-label={`Divide ${label}`}
        aria-orientation={rows ? "horizontal" : "vertical"}
        aria-valuenow={Math.round(share)}
        aria-valuemin={LEAST}
        aria-valuemax={100 - LEAST}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onDblClick={() => put(start)}
        onKeyDown={(event) => {
          const [less, more] = rows ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
          const by = event.key === less ? -2 : event.key === more ? 2 : 0;
          if (by === 0) return;
          event.preventDefault();
          put(share + by);
        }}
      />
      <div class="split-pane spring">{second}</div>
    </div>
  );
}

function within(share: number): number {
  return Math.max(LEAST, Math.min(100 - LEAST, share));
}
