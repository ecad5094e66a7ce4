// Draws the sky: the earth on one canvas, which stays while only time goes on, and what
// moves on another above it.
import { colours, faded } from "../../../lib/colours";
import { canvasToPng } from "../../../lib/picture";
import { isDark } from "../../../lib/scheme";
import type { Sky } from "../model";
import { Flat } from "./flat";
import { Globe } from "./globe";
import { sunAt } from "./sun";
import { BEYOND, FRONT, HIDDEN, wrapped, type BaseColours, type Camera, type Context, type View } from "./view";

/** What is shown, and how. */
export interface Look {
  readonly projection: "globe" | "map";
  readonly camera: Camera;
  readonly caps: "used" | "all" | "none";
  readonly links: boolean;
  readonly night: boolean;
  readonly labels: boolean;
  /** The frame is inertial: the orbital planes stay, and the earth rotates. */
  readonly isInertial: boolean;
}

const LIGHT: BaseColours = { space: "#fbfcfb", sea: "#e4edf1", land: "#cfd6c6", coast: "#9aa592", grid: "#c9d6dc" };
const DARK: BaseColours = { space: "#0d1113", sea: "#131f27", land: "#2c3833", coast: "#52625a", grid: "#20303a" };

/** More satellites than this are drawn as smaller dots. */
const MANY = 400;
/** As many caps at once, at most, of "all". */
const MOST_CAPS = 3_000;

type Box = readonly [number, number, number, number];

export class Painter {
  readonly #base: Context | null;
  readonly #top: Context | null;
  readonly #globe: Globe;
  readonly #flat = new Flat();
  #drawn = "";
  #land: GeoJSON.GeometryObject | undefined;
  #size: readonly [number, number, number] = [1, 1, 1];

  constructor(
    private readonly base: HTMLCanvasElement,
    private readonly top: HTMLCanvasElement,
    earthKm: number,
  ) {
    this.#base = base.getContext("2d", { alpha: false });
    this.#top = top.getContext("2d");
    this.#globe = new Globe(earthKm);
  }

  /** Natural Earth's land, when it is loaded. */
  set land(land: GeoJSON.GeometryObject) {
    this.#land = land;
    this.#drawn = "";
  }

  view(look: Look): View {
    return look.projection === "globe" ? this.#globe : this.#flat;
  }

  /** Takes the size of the canvas on the page. */
  #fit(): readonly [number, number, number] {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [w, h] = [this.top.clientWidth, this.top.clientHeight];
    const [x, y] = [Math.max(1, Math.round(w * ratio)), Math.max(1, Math.round(h * ratio))];
    for (const canvas of [this.base, this.top]) {
      if (canvas.width === x && canvas.height === y) continue;
      canvas.width = x;
      canvas.height = y;
      this.#drawn = "";
    }
    this.#size = [w, h, ratio];
    return this.#size;
  }

  /** Draws the sky as it is at `time`; positions are taken to be those of that time. */
  draw(sky: Sky, time: number, look: Look): void {
    const g = this.#top;
    if (g === null || this.#base === null) return;
    const [w, h, ratio] = this.#fit();
    const turned = look.isInertial
      ? wrapped(look.camera.longitude - (360 * time) / sky.header.day_s)
      : look.camera.longitude;
    const camera = { ...look.camera, longitude: turned };
    const view = this.view(look);
    view.set(w, h, camera);
    const base = `${look.projection} ${w} ${h} ${camera.longitude} ${camera.latitude} ${camera.zoom} ${isDark.value}`;
    if (base !== this.#drawn) {
      this.#base.setTransform(ratio, 0, 0, ratio, 0, 0);
      view.base(this.#base, this.#land, isDark.value ? DARK : LIGHT);
      this.#drawn = base;
    }
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    if (look.night) {
      g.beginPath();
      view.night(g, ...sunAt(time, sky.header.start_unix_s));
      g.fillStyle = isDark.value ? "rgb(0 0 0 / 0.34)" : "rgb(20 35 60 / 0.13)";
      g.fill();
    }
    view.satellites(sky);
    const path = sky.legAt(time)?.path ?? [];
    const used = path.filter((stop) => stop >= 0);
    this.#caps(g, view, sky, look, used);
    if (look.links) this.#links(g, view, sky);
    this.#dots(g, view, sky);
    this.#path(g, view, sky, path, used.length > 8 ? 2.5 : 3);
    this.#names(g, view, sky, look, used);
  }

  #caps(g: Context, view: View, sky: Sky, look: Look, used: readonly number[]): void {
    const accent = colours().c0;
    if (look.caps === "all") {
      g.beginPath();
      const count = Math.min(sky.header.count, MOST_CAPS);
      for (let i = 0; i < count; i++) {
        const at = sky.placeOf(i);
        if (at !== undefined) view.cap(g, at, sky.halfOf(i), false);
      }
      g.strokeStyle = faded(accent, 0.35);
      g.lineWidth = 0.7;
      g.stroke();
    }
    if (look.caps === "none") return;
    g.fillStyle = faded(accent, 0.14);
    g.strokeStyle = faded(accent, 0.6);
    g.lineWidth = 1;
    // Only the ends of a path serve the ground.
    for (const satellite of new Set([used[0], used.at(-1)])) {
      const at = satellite === undefined ? undefined : sky.placeOf(satellite);
      if (satellite === undefined || at === undefined) continue;
      g.beginPath();
      view.cap(g, at, sky.halfOf(satellite), true);
      g.fill();
      g.stroke();
    }
  }

  #links(g: Context, view: View, sky: Sky): void {
    const line = colours().edge;
    g.lineWidth = 0.8;
    for (const side of [BEYOND, FRONT]) {
      g.strokeStyle = faded(line, side === FRONT ? 0.62 : 0.22);
      g.beginPath();
      view.links(g, sky, side);
      g.stroke();
    }
  }

  #dots(g: Context, view: View, sky: Sky): void {
    const { xs, ys, sides } = view;
    const [w, h] = this.#size;
    const size = sky.header.count > MANY ? 3 : 5;
    const half = size / 2;
    const dot = colours().muted;
    for (const side of [BEYOND, FRONT]) {
      g.fillStyle = side === FRONT ? dot : faded(dot, 0.4);
      for (let i = 0; i < sides.length; i++) {
        if (sides[i] !== side) continue;
        const x = xs[i]!;
        const y = ys[i]!;
        if (x < -size || y < -size || x > w + size || y > h + size) continue;
        g.fillRect(Math.round(x - half), Math.round(y - half), size, size);
      }
    }
  }

  #path(g: Context, view: View, sky: Sky, path: readonly number[], width: number): void {
    const places = path.map((stop) => sky.placeOf(stop));
    g.lineJoin = g.lineCap = "round";
    const trace = (isBehind: boolean) => {
      g.beginPath();
      for (let i = 1; i < places.length; i++) {
        const [a, b] = [places[i - 1], places[i]];
        if (a !== undefined && b !== undefined) view.line(g, a, b, isBehind);
      }
    };
    const { c1, surface } = colours();
    trace(false);
    g.strokeStyle = surface;
    g.lineWidth = width + 3;
    g.stroke();
    g.strokeStyle = c1;
    g.lineWidth = width;
    g.stroke();
    trace(true);
    g.setLineDash([3, 5]);
    g.lineWidth = 1.4;
    g.strokeStyle = faded(c1, 0.75);
    g.stroke();
    g.setLineDash([]);
  }

  #names(g: Context, view: View, sky: Sky, look: Look, used: readonly number[]): void {
    const { text, surface, c1, muted } = colours();
    const taken: Box[] = [];
    const font = getComputedStyle(this.top).fontFamily;
    g.lineWidth = 1.6;
    for (const satellite of used) {
      const at = sky.placeOf(satellite);
      const spot = at === undefined ? undefined : view.spot(at);
      if (spot === undefined || !spot.isSeen) continue;
      g.beginPath();
      g.arc(spot.x, spot.y, 4, 0, 2 * Math.PI);
      g.fillStyle = surface;
      g.strokeStyle = c1;
      g.fill();
      g.stroke();
      taken.push([spot.x - 5, spot.y - 5, spot.x + 5, spot.y + 5]);
    }
    const ends = ([-1, -2] as const).map((stop) => ({ stop, spot: view.spot(sky.ground[stop === -1 ? 0 : 1]) }));
    for (const { spot } of ends) {
      if (!spot.isSeen) continue;
      g.fillStyle = text;
      g.strokeStyle = surface;
      g.beginPath();
      g.rect(spot.x - 4.5, spot.y - 4.5, 9, 9);
      g.fill();
      g.stroke();
      taken.push([spot.x - 6, spot.y - 6, spot.x + 6, spot.y + 6]);
    }
    if (!look.labels) return;
    // Text grows with that of the page.
    const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 14;
    const [large, small] = [13 * scale, 11 * scale];
    g.font = `600 ${large}px ${font}`;
    for (const { stop, spot } of ends)
      if (spot.isSeen) this.#label(g, taken, spot.x, spot.y, sky.nameOf(stop), text, large, true);
    g.font = `${small}px ${font}`;
    // A long path has only the names of its ends.
    const named = used.length > 8 ? [used[0], used.at(-1)] : used;
    for (const satellite of named) {
      const at = satellite === undefined ? undefined : sky.placeOf(satellite);
      const spot = at === undefined ? undefined : view.spot(at);
      if (satellite !== undefined && spot?.isSeen === true)
        this.#label(g, taken, spot.x, spot.y, sky.nameOf(satellite), muted, small, false);
    }
  }

  /** A name beside a point, where there is room; one that `must` be there takes the best place. */
  #label(
    g: Context,
    taken: Box[],
    x: number,
    y: number,
    name: string,
    colour: string,
    size: number,
    must: boolean,
  ): void {
    const width = g.measureText(name).width;
    const [w, h] = this.#size;
    const corners: readonly (readonly [number, number])[] = [
      [x + 9, y - size / 2],
      [x - 9 - width, y - size / 2],
      [x - width / 2, y - 10 - size],
      [x - width / 2, y + 10],
    ];
    const boxes = corners.map(([left, top]): Box => [left, top, left + width, top + size]);
    const inside = boxes.filter((box) => box[0] > 2 && box[1] > 2 && box[2] < w - 2 && box[3] < h - 2);
    const shared = (box: Box) =>
      taken.reduce(
        (sum, other) =>
          sum +
          Math.max(0, Math.min(box[2], other[2]) - Math.max(box[0], other[0])) *
            Math.max(0, Math.min(box[3], other[3]) - Math.max(box[1], other[1])),
        0,
      );
    const free =
      inside.find((box) => shared(box) === 0) ?? (must ? inside.sort((a, b) => shared(a) - shared(b))[0] : undefined);
    if (free === undefined) return;
    taken.push(free);
    g.lineWidth = 3.5;
    g.strokeStyle = colours().surface;
    g.strokeText(name, free[0], free[3] - size * 0.18);
    g.fillStyle = colour;
    g.fillText(name, free[0], free[3] - size * 0.18);
  }

  /** The satellite nearest to a point of the canvas, within some pixels. */
  satelliteAt(look: Look, x: number, y: number): number | undefined {
    const { xs, ys, sides } = this.view(look);
    let best: number | undefined;
    let least = 10 * 10;
    for (let i = 0; i < sides.length; i++) {
      if (sides[i] === HIDDEN) continue;
      const distance = ((xs[i] ?? 0) - x) ** 2 + ((ys[i] ?? 0) - y) ** 2;
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  /** The picture as it is shown. */
  async toPng(): Promise<Blob> {
    const canvas = document.createElement("canvas");
    canvas.width = this.top.width;
    canvas.height = this.top.height;
    const g = canvas.getContext("2d");
    if (g === null) throw new Error("the browser draws nothing");
    g.drawImage(this.base, 0, 0);
    g.drawImage(this.top, 0, 0);
    return canvasToPng(canvas);
  }
}
