// The flat map: an equirectangular projection. Lines in space are drawn as the places
// below them.
import { geoEquirectangular } from "d3-geo";
import type { Sky } from "../model";
import {
  FRONT,
  HIDDEN,
  RADIAN,
  Screen,
  wrapped,
  type BaseColours,
  type Camera,
  type Context,
  type Point,
  type Spot,
  type View,
} from "./view";

/** Degrees of a piece of a line. */
const PIECE = 5;
const MOST_PIECES = 40;
/** Steps along the side of a cap. */
const STEPS = 20;

export class Flat extends Screen implements View {
  #longitude = 0;
  #latitude = 0;
  /** Pixels of a degree. */
  #scale = 1;

  set(width: number, height: number, camera: Camera): void {
    this.width = width;
    this.height = height;
    this.#scale = Math.max(width / 360, height / 180) * camera.zoom;
    this.#longitude = camera.longitude;
    const room = Math.max(0, 90 - height / 2 / this.#scale);
    this.#latitude = Math.min(room, Math.max(-room, camera.latitude));
  }

  #x(longitude: number): number {
    return this.width / 2 + wrapped(longitude - this.#longitude) * this.#scale;
  }

  #y(latitude: number): number {
    return this.height / 2 - (latitude - this.#latitude) * this.#scale;
  }

  base(g: Context, land: GeoJSON.GeometryObject | undefined, colours: BaseColours): void {
    g.fillStyle = colours.sea;
    g.fillRect(0, 0, this.width, this.height);
    const projection = geoEquirectangular()
      .rotate([-this.#longitude, 0])
      .scale(this.#scale / RADIAN)
      .translate([this.width / 2, this.#y(0)])
      .precision(1);
    this.land(g, projection, land, colours);
  }

  satellites(sky: Sky): void {
    const p = sky.positions;
    const count = sky.header.count;
    this.fit(count);
    const { xs, ys, sides } = this;
    for (let i = 0, at = 0; i < count; i++, at += 3) {
      const x = p[at]!;
      const y = p[at + 1]!;
      const z = p[at + 2]!;
      xs[i] = this.#x(Math.atan2(y, x) / RADIAN);
      ys[i] = this.#y(Math.atan2(z, Math.sqrt(x * x + y * y)) / RADIAN);
      sides[i] = x === 0 && y === 0 && z === 0 ? HIDDEN : FRONT;
    }
  }

  links(g: Context, sky: Sky, side: number): void {
    if (side !== FRONT) return;
    const { xs, ys, sides } = this;
    const { ends, up, positions: p } = sky;
    const near = PIECE * this.#scale;
    const around = 360 * this.#scale;
    const margin = 60 * this.#scale;
    const [w, h] = [this.width, this.height];
    for (let i = 0; i < up.length; i++) {
      if (up[i] === 0) continue;
      const a = ends[2 * i]!;
      const b = ends[2 * i + 1]!;
      if (sides[a] === HIDDEN || sides[b] === HIDDEN) continue;
      const [ax, ay, bx, by] = [xs[a]!, ys[a]!, xs[b]!, ys[b]!];
      const dx = bx - ax;
      const dy = by - ay;
      if (Math.abs(dx) < near && Math.abs(dy) < near) {
        g.moveTo(ax, ay);
        g.lineTo(bx, by);
        continue;
      }
      // Out of the picture; one that runs around may come in on the other side.
      if ((ay < -margin && by < -margin) || (ay > h + margin && by > h + margin)) continue;
      if (Math.abs(dx) < around / 2 && ((ax < -margin && bx < -margin) || (ax > w + margin && bx > w + margin)))
        continue;
      this.#track(g, p[3 * a]!, p[3 * a + 1]!, p[3 * a + 2]!, p[3 * b]!, p[3 * b + 1]!, p[3 * b + 2]!, ax, ay, bx, by);
    }
  }

  /** The places below a line in space, which may leave the map at one side and come back. */
  #track(
    g: Context,
    ax: number,
    ay: number,
    az: number,
    bx: number,
    by: number,
    bz: number,
    fromX: number,
    fromY: number,
    toX: number,
    toY: number,
  ): void {
    const around = 360 * this.#scale;
    const apart = Math.max(Math.abs(wrapped((toX - fromX) / this.#scale)), Math.abs(toY - fromY) / this.#scale);
    const pieces = Math.max(1, Math.min(MOST_PIECES, Math.ceil(apart / PIECE)));
    let [x, y] = [fromX, fromY];
    g.moveTo(x, y);
    for (let i = 1; i <= pieces; i++) {
      const share = i / pieces;
      let [nextX, nextY] = [toX, toY];
      if (i < pieces) {
        const px = ax + (bx - ax) * share;
        const py = ay + (by - ay) * share;
        const pz = az + (bz - az) * share;
        nextX = this.#x(Math.atan2(py, px) / RADIAN);
        nextY = this.#y(Math.atan2(pz, Math.sqrt(px * px + py * py)) / RADIAN);
      }
      const step = nextX - x;
      if (Math.abs(step) > around / 2) {
        // Over the edge: out on this side, and in again on the other.
        const turn = step > 0 ? -around : around;
        g.lineTo(nextX + turn, nextY);
        g.moveTo(x - turn, y);
      }
      g.lineTo(nextX, nextY);
      [x, y] = [nextX, nextY];
    }
  }

  line(g: Context, a: Point, b: Point, isBehind: boolean): void {
    if (isBehind) return;
    const [from, to] = [this.spot(a), this.spot(b)];
    // The places below a line are those of the great circle between its ends, whatever
    // their heights: a satellite far above would crowd the pieces at one end.
    const [m, n] = [Math.hypot(a[0], a[1], a[2]), Math.hypot(b[0], b[1], b[2])];
    this.#track(g, a[0] / m, a[1] / m, a[2] / m, b[0] / n, b[1] / n, b[2] / n, from.x, from.y, to.x, to.y);
  }

  cap(g: Context, at: Point, half: number): void {
    const longitude = Math.atan2(at[1], at[0]) / RADIAN;
    const latitude = Math.atan2(at[2], Math.hypot(at[0], at[1])) / RADIAN;
    const low = Math.max(latitude - half, -90);
    const high = Math.min(latitude + half, 90);
    const widths: number[] = [];
    const heights: number[] = [];
    for (let i = 0; i <= STEPS; i++) {
      const height = low + ((high - low) * (1 - Math.cos((Math.PI * i) / STEPS))) / 2;
      const b = Math.cos(height * RADIAN) * Math.cos(latitude * RADIAN);
      const a = Math.cos(half * RADIAN) - Math.sin(height * RADIAN) * Math.sin(latitude * RADIAN);
      widths.push(a <= -b ? 180 : a >= b ? 0 : Math.acos(a / b) / RADIAN);
      heights.push(height);
    }
    const middle = this.#x(longitude);
    const widest = Math.max(...widths) * this.#scale;
    const around = 360 * this.#scale;
    for (const turn of [-around, 0, around]) {
      if (middle + turn + widest < 0 || middle + turn - widest > this.width) continue;
      for (let i = 0; i <= STEPS; i++) {
        const x = middle + turn + (widths[i] ?? 0) * this.#scale;
        if (i === 0) g.moveTo(x, this.#y(heights[i] ?? 0));
        else g.lineTo(x, this.#y(heights[i] ?? 0));
      }
      for (let i = STEPS; i >= 0; i--)
        g.lineTo(middle + turn - (widths[i] ?? 0) * this.#scale, this.#y(heights[i] ?? 0));
      g.closePath();
    }
  }

  night(g: Context, longitude: number, latitude: number): void {
    // At an equinox the edge of the night runs from pole to pole.
    const height = Math.abs(latitude) < 0.005 ? 0.005 : latitude;
    const left = this.#longitude - this.width / 2 / this.#scale;
    const steps = 480;
    const across = this.width / this.#scale;
    for (let i = 0; i <= steps; i++) {
      const at = left + (across * i) / steps;
      const edge = Math.atan(-Math.cos((at - longitude) * RADIAN) / Math.tan(height * RADIAN)) / RADIAN;
      const x = (this.width * i) / steps;
      if (i === 0) g.moveTo(x, this.#y(edge));
      else g.lineTo(x, this.#y(edge));
    }
    const pole = this.#y(height > 0 ? -90 : 90);
    g.lineTo(this.width, pole);
    g.lineTo(0, pole);
    g.closePath();
  }

  spot(at: Point): Spot {
    return {
      x: this.#x(Math.atan2(at[1], at[0]) / RADIAN),
      y: this.#y(Math.atan2(at[2], Math.hypot(at[0], at[1])) / RADIAN),
      isSeen: true,
    };
  }

  invert(x: number, y: number): readonly [number, number] | undefined {
    const latitude = this.#latitude + (this.height / 2 - y) / this.#scale;
    if (Math.abs(latitude) > 90) return undefined;
    return [wrapped(this.#longitude + (x - this.width / 2) / this.#scale), latitude];
  }

  drag(camera: Camera, dx: number, dy: number): Camera {
    const room = Math.max(0, 90 - this.height / 2 / this.#scale);
    const latitude = Math.min(room, Math.max(-room, this.#latitude + dy / this.#scale));
    return { ...camera, longitude: wrapped(camera.longitude - dx / this.#scale), latitude };
  }
}
