// The globe: an orthographic projection, in which lines between satellites stay straight.
import { geoOrthographic } from "d3-geo";
import type { Sky } from "../model";
import {
  BEYOND,
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

/** Share of the smaller side of the canvas that the earth takes at zoom 1. */
const FILL = 0.8;
/** Corners of a cap. */
const CORNERS = 40;
/** Pieces of a line whose far part is hidden. */
const PIECES = 24;

export class Globe extends Screen implements View {
  #camera: Camera = { longitude: 0, latitude: 0, zoom: 1 };
  /** Radius of the earth in pixels, and pixels of a kilometre. */
  #radius = 1;
  #scale = 1;
  // Unit vectors to the right, up and towards the eye.
  #right: Point = [0, 1, 0];
  #up: Point = [0, 0, 1];
  #eye: Point = [1, 0, 0];

  constructor(readonly earthKm: number) {
    super();
  }

  set(width: number, height: number, camera: Camera): void {
    this.width = width;
    this.height = height;
    this.#camera = camera;
    this.#radius = (Math.min(width, height) / 2) * FILL * camera.zoom;
    this.#scale = this.#radius / this.earthKm;
    const [l, f] = [camera.longitude * RADIAN, camera.latitude * RADIAN];
    this.#right = [-Math.sin(l), Math.cos(l), 0];
    this.#up = [-Math.sin(f) * Math.cos(l), -Math.sin(f) * Math.sin(l), Math.cos(f)];
    this.#eye = [Math.cos(f) * Math.cos(l), Math.cos(f) * Math.sin(l), Math.sin(f)];
  }

  base(g: Context, land: GeoJSON.GeometryObject | undefined, colours: BaseColours): void {
    const [x, y] = [this.width / 2, this.height / 2];
    g.fillStyle = colours.space;
    g.fillRect(0, 0, this.width, this.height);
    g.beginPath();
    g.arc(x, y, this.#radius, 0, 2 * Math.PI);
    g.fillStyle = colours.sea;
    g.fill();
    const projection = geoOrthographic()
      .rotate([-this.#camera.longitude, -this.#camera.latitude])
      .scale(this.#radius)
      .translate([x, y])
      .clipAngle(90)
      .precision(this.#radius > 600 ? 0.5 : 1);
    this.land(g, projection, land, colours);
    g.beginPath();
    g.arc(x, y, this.#radius, 0, 2 * Math.PI);
    g.strokeStyle = colours.coast;
    g.lineWidth = 1;
    g.stroke();
  }

  satellites(sky: Sky): void {
    const p = sky.positions;
    const count = sky.header.count;
    this.fit(count);
    const { xs, ys, sides } = this;
    const k = this.#scale;
    const [x0, y0] = [this.width / 2, this.height / 2];
    const [rx, ry] = [this.#right[0] * k, this.#right[1] * k];
    const [ux, uy, uz] = [this.#up[0] * k, this.#up[1] * k, this.#up[2] * k];
    const [ex, ey, ez] = this.#eye;
    const limit = this.#radius * this.#radius;
    for (let i = 0, at = 0; i < count; i++, at += 3) {
      const x = p[at]!;
      const y = p[at + 1]!;
      const z = p[at + 2]!;
      const sx = x * rx + y * ry;
      const sy = x * ux + y * uy + z * uz;
      xs[i] = x0 + sx;
      ys[i] = y0 - sy;
      const isFront = x * ex + y * ey + z * ez >= 0;
      if (x === 0 && y === 0 && z === 0) sides[i] = HIDDEN;
      else if (isFront) sides[i] = FRONT;
      else sides[i] = sx * sx + sy * sy < limit ? HIDDEN : BEYOND;
    }
  }

  links(g: Context, sky: Sky, side: number): void {
    const { xs, ys, sides } = this;
    const { ends, up } = sky;
    const [w, h] = [this.width, this.height];
    for (let i = 0; i < up.length; i++) {
      if (up[i] === 0) continue;
      const a = ends[2 * i]!;
      const b = ends[2 * i + 1]!;
      const [sa, sb] = [sides[a]!, sides[b]!];
      // A link is as far in front as its nearer end; one with a hidden end is left out
      // behind the earth.
      if (sa === HIDDEN && sb === HIDDEN) continue;
      if ((sa === FRONT || sb === FRONT ? FRONT : BEYOND) !== side) continue;
      if (side === BEYOND && (sa === HIDDEN || sb === HIDDEN)) continue;
      const [ax, ay, bx, by] = [xs[a]!, ys[a]!, xs[b]!, ys[b]!];
      if ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > w && bx > w) || (ay > h && by > h)) continue;
      g.moveTo(ax, ay);
      g.lineTo(bx, by);
    }
  }

  line(g: Context, a: Point, b: Point, isBehind: boolean): void {
    let isDrawing = false;
    for (let i = 0; i <= PIECES; i++) {
      const share = i / PIECES;
      const at: Point = [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share];
      const { x, y, isSeen } = this.spot(at);
      if (isSeen === isBehind) {
        isDrawing = false;
        continue;
      }
      if (isDrawing) g.lineTo(x, y);
      else g.moveTo(x, y);
      isDrawing = true;
    }
  }

  cap(g: Context, at: Point, half: number, isFilled: boolean): void {
    const length = Math.hypot(at[0], at[1], at[2]);
    // Towards the right, up and the eye, of a unit sphere.
    const x = (at[0] * this.#right[0] + at[1] * this.#right[1]) / length;
    const y = (at[0] * this.#up[0] + at[1] * this.#up[1] + at[2] * this.#up[2]) / length;
    const z = (at[0] * this.#eye[0] + at[1] * this.#eye[1] + at[2] * this.#eye[2]) / length;
    const [c, s] = [Math.cos(half * RADIAN), Math.sin(half * RADIAN)];
    const flat = Math.hypot(x, y);
    // Nothing of it is on this side.
    if (c * z + s * flat < 0) return;
    const [px, py] = flat < 1e-9 ? [1, 0] : [x / flat, y / flat];
    const [x0, y0, r] = [this.width / 2, this.height / 2, this.#radius];
    let isDrawing = false;
    for (let i = 0; i <= CORNERS; i++) {
      const angle = (2 * Math.PI * i) / CORNERS - Math.PI;
      const [ca, sa] = [Math.cos(angle), Math.sin(angle)];
      // Along the tangent that leads towards the eye, and across it.
      let dx = c * x + s * (-ca * z * px - sa * py);
      let dy = c * y + s * (-ca * z * py + sa * px);
      const depth = c * z + s * ca * flat;
      if (depth < 0) {
        if (!isFilled) {
          isDrawing = false;
          continue;
        }
        // What is filled ends at the edge of the earth.
        const out = Math.hypot(dx, dy);
        dx /= out;
        dy /= out;
      }
      if (isDrawing) g.lineTo(x0 + r * dx, y0 - r * dy);
      else g.moveTo(x0 + r * dx, y0 - r * dy);
      isDrawing = true;
    }
  }

  night(g: Context, longitude: number, latitude: number): void {
    // The half of the earth around the place opposite to the sun.
    const [l, f] = [(longitude + 180) * RADIAN, -latitude * RADIAN];
    const at: Point = [Math.cos(f) * Math.cos(l), Math.cos(f) * Math.sin(l), Math.sin(f)];
    const x = at[0] * this.#right[0] + at[1] * this.#right[1];
    const y = at[0] * this.#up[0] + at[1] * this.#up[1] + at[2] * this.#up[2];
    const z = at[0] * this.#eye[0] + at[1] * this.#eye[1] + at[2] * this.#eye[2];
    const angle = Math.atan2(y, x);
    const [x0, y0, r] = [this.width / 2, this.height / 2, this.#radius];
    // The edge of the earth on the dark side, and back along half of an ellipse.
    g.arc(x0, y0, r, -angle - Math.PI / 2, -angle + Math.PI / 2);
    for (let i = 1; i < 48; i++) {
      const turn = Math.PI / 2 - (Math.PI * i) / 48;
      const [along, across] = [-z * Math.cos(turn), Math.sin(turn)];
      const dx = along * Math.cos(angle) + across * Math.sin(angle);
      const dy = along * Math.sin(angle) - across * Math.cos(angle);
      g.lineTo(x0 + r * dx, y0 - r * dy);
    }
    g.closePath();
  }

  spot(at: Point): Spot {
    const k = this.#scale;
    const sx = (at[0] * this.#right[0] + at[1] * this.#right[1]) * k;
    const sy = (at[0] * this.#up[0] + at[1] * this.#up[1] + at[2] * this.#up[2]) * k;
    const depth = at[0] * this.#eye[0] + at[1] * this.#eye[1] + at[2] * this.#eye[2];
    const isSeen = depth >= 0 || sx * sx + sy * sy >= this.#radius * this.#radius;
    return { x: this.width / 2 + sx, y: this.height / 2 - sy, isSeen };
  }

  invert(x: number, y: number): readonly [number, number] | undefined {
    const dx = (x - this.width / 2) / this.#radius;
    const dy = (this.height / 2 - y) / this.#radius;
    const rest = 1 - dx * dx - dy * dy;
    if (rest < 0) return undefined;
    const z = Math.sqrt(rest);
    const at = (i: 0 | 1 | 2) => dx * this.#right[i] + dy * this.#up[i] + z * this.#eye[i];
    return [Math.atan2(at(1), at(0)) / RADIAN, Math.asin(Math.min(1, Math.max(-1, at(2)))) / RADIAN];
  }

  drag(camera: Camera, dx: number, dy: number): Camera {
    const degrees = 1 / (this.#radius * RADIAN);
    const latitude = Math.min(90, Math.max(-90, camera.latitude + dy * degrees));
    const narrow = Math.max(0.2, Math.cos(latitude * RADIAN));
    return { ...camera, longitude: wrapped(camera.longitude - (dx * degrees) / narrow), latitude };
  }
}
