// The picture: two canvases, drawn when something changed, turned by pointer and keys.
import { effect, untracked } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { feature } from "topojson-client";
import { isDark } from "../../lib/scheme";
import { Painter, type Look } from "./paint/painter";
import { camera, picking, sky, time, version, zoomBy } from "./store";

let land: GeoJSON.GeometryObject | undefined;

/** Natural Earth's land, loaded once. */
async function loadLand(): Promise<GeoJSON.GeometryObject> {
  if (land === undefined) {
    const { default: world } = await import("world-atlas/land-110m.json");
    land = {
      type: "GeometryCollection",
      geometries: feature(world, world.objects.land).features.map((one) => one.geometry),
    } as GeoJSON.GeometryCollection;
  }
  return land;
}

export interface StageProps {
  look: Omit<Look, "camera">;
  /** A place of the map was clicked. */
  onPick: (longitude: number, latitude: number, withinKm: number) => void;
  /** The camera rests. */
  onRest: () => void;
  painter: (painter: Painter | undefined) => void;
}

/** Frame times of the last seconds, for measurements from outside. */
declare global {
  interface Window {
    skyFrames?: number[];
  }
}

export function SkyStage(props: StageProps) {
  const base = useRef<HTMLCanvasElement>(null);
  const top = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const redraw = useRef<() => void>(() => undefined);
  const [tip, setTip] = useState<{ x: number; y: number; text: string }>();
  const isReady = sky.value !== undefined;

  useEffect(() => {
    const [below, above, first] = [base.current, top.current, sky.peek()];
    if (below === null || above === null || first === undefined) return undefined;
    const made = new Painter(below, above, first.header.earth_km);
    painter.current = made;
    latest.current.painter(made);
    let frame = 0;
    const draw = () => {
      frame = 0;
      const current = sky.peek();
      if (current === undefined) return;
      const begun = performance.now();
      const at = time.peek();
      current.go(at);
      made.draw(current, at, { ...latest.current.look, camera: camera.peek() });
      window.skyFrames?.push(performance.now() - begun);
    };
    const ask = () => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    redraw.current = ask;
    const stop = effect(() => {
      void [sky.value, version.value, time.value, camera.value, isDark.value];
      untracked(ask);
    });
    const watch = new ResizeObserver(ask);
    watch.observe(above);
    loadLand().then(
      (loaded) => {
        made.land = loaded;
        ask();
      },
      () => undefined,
    );
    return () => {
      stop();
      watch.disconnect();
      cancelAnimationFrame(frame);
      latest.current.painter(undefined);
    };
  }, [isReady]);
  useEffect(() => redraw.current());

  const lookNow = (): Look => ({ ...props.look, camera: camera.peek() });
  const drag = (dx: number, dy: number) => {
    const view = painter.current?.view(lookNow());
    if (view !== undefined) camera.value = view.drag(camera.peek(), dx, dy);
  };
  const zoom = (factor: number) => {
    zoomBy(factor, props.look.projection);
    props.onRest();
  };
  usePointers(top, {
    drag,
    zoom,
    click: (x, y) => pick(x, y),
    hover: (x, y) => hover(x, y),
    rest: () => latest.current.onRest(),
  });

  function pick(x: number, y: number): void {
    const view = painter.current?.view(lookNow());
    const at = view?.invert(x, y);
    const beside = view?.invert(x + 14, y);
    if (at === undefined || picking.peek() === undefined) return;
    // A city within 14 pixels is meant.
    const degrees = beside === undefined ? 2 : Math.hypot(beside[0] - at[0], beside[1] - at[1]);
    // In the inertial frame the earth has turned below the map; the camera of the view has too.
    latest.current.onPick(at[0], at[1], Math.min(300, degrees * 111));
  }
  function hover(x: number | undefined, y = 0): void {
    const current = sky.peek();
    const found = x === undefined ? undefined : painter.current?.satelliteAt(lookNow(), x, y);
    if (x === undefined || found === undefined || current === undefined) {
      setTip(undefined);
      return;
    }
    setTip({ x, y, text: current.nameOf(found) });
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = event.shiftKey ? 120 : 40;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => drag(step, 0),
      ArrowRight: () => drag(-step, 0),
      ArrowUp: () => drag(0, step),
      ArrowDown: () => drag(0, -step),
      "+": () => zoom(1.25),
      "=": () => zoom(1.25),
      "-": () => zoom(0.8),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
    props.onRest();
  };

  return (
    <div class={`sky-stage sky-stage-${props.look.projection}`}>
      <canvas ref={base} aria-hidden="true" />
      <canvas
        ref={top}
        class={picking.value === undefined ? "" : "sky-picking"}
        tabIndex={0}
        role="application"
        aria-roledescription="map"
        aria-label={`${props.look.projection === "globe" ? "Globe" : "Map"} with satellites. Arrow keys turn it, plus and minus zoom.`}
        onKeyDown={onKeyDown}
      />
      {tip !== undefined && (
        <span class="sky-tip" style={{ left: `${tip.x + 12}px`, top: `${tip.y - 10}px` }}>
          {tip.text}
        </span>
      )}
    </div>
  );
}

interface Gestures {
  drag: (dx: number, dy: number) => void;
  zoom: (factor: number) => void;
  click: (x: number, y: number) => void;
  hover: (x: number | undefined, y?: number) => void;
  rest: () => void;
}

/** Drags with one pointer, pinches with two, zooms with the wheel, clicks and hovers. */
function usePointers(ref: { current: HTMLElement | null }, gestures: Gestures): void {
  const latest = useRef(gestures);
  latest.current = gestures;
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const pointers = new Map<number, { x: number; y: number }>();
    let moved = 0;
    const spread = () => {
      const [a, b] = [...pointers.values()];
      return a === undefined || b === undefined ? 0 : Math.hypot(a.x - b.x, a.y - b.y);
    };
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return;
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      moved = 0;
      element.setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent) => {
      const before = pointers.get(event.pointerId);
      if (before === undefined) {
        latest.current.hover(event.offsetX, event.offsetY);
        return;
      }
      const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
      const apart = spread();
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      moved += Math.abs(dx) + Math.abs(dy);
      if (pointers.size > 1) {
        const now = spread();
        if (apart > 0 && now > 0) latest.current.zoom(now / apart);
      } else if (moved > 3) {
        latest.current.hover(undefined);
        latest.current.drag(dx, dy);
      }
    };
    const up = (event: PointerEvent) => {
      if (!pointers.delete(event.pointerId)) return;
      if (moved <= 3) latest.current.click(event.offsetX, event.offsetY);
      else latest.current.rest();
    };
    const wheel = (event: WheelEvent) => {
      // The page scrolls unless the picture is in use.
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== element) return;
      event.preventDefault();
      latest.current.zoom(Math.exp(-event.deltaY / 500));
    };
    const leave = () => latest.current.hover(undefined);
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", up);
    element.addEventListener("pointerleave", leave);
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      element.removeEventListener("pointerdown", down);
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", up);
      element.removeEventListener("pointercancel", up);
      element.removeEventListener("pointerleave", leave);
      element.removeEventListener("wheel", wheel);
    };
  }, []);
}
