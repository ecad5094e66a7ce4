// Where satellites are, in the frame that turns with the earth: kilometres, x through
// 0 N 0 E, y through 0 N 90 E, z through the north pole.
import type { Header, Samples } from "./types";

const RADIAN = Math.PI / 180;

/** A place on the ground or above it. */
export function vector(longitude: number, latitude: number, radius: number): [number, number, number] {
  const c = radius * Math.cos(latitude * RADIAN);
  return [c * Math.cos(longitude * RADIAN), c * Math.sin(longitude * RADIAN), radius * Math.sin(latitude * RADIAN)];
}

/** Fills `out` with three numbers a satellite; three zeros are one that is not there. */
export interface Motion {
  at(time: number, out: Float64Array): void;
}

/** The motion of the satellites of a header; those of a file get their positions later. */
export function motionOf(header: Header): Motion & { take?: (samples: Samples) => void } {
  if (header.kind === "shell") return new Shell(header);
  if (header.kind === "standing") return new Standing(header);
  return new Sampled(header.count);
}

/** Circular orbits: the same arithmetic as crates/orbit/src/shell.rs. */
class Shell implements Motion {
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  /** Of each plane the unit vectors to its node and a quarter further on. */
  readonly #planes: Float64Array;
  readonly #radius: number;
  readonly #perPlane: number;
  readonly #motion: number;
  readonly #earth: number;

  constructor(header: Header) {
    const given = header.arguments ?? [];
    this.#cos = Float64Array.from(given, (degrees) => Math.cos(degrees * RADIAN));
    this.#sin = Float64Array.from(given, (degrees) => Math.sin(degrees * RADIAN));
    this.#perPlane = header.per_plane ?? 1;
    this.#radius = typeof header.radius_km === "number" ? header.radius_km : header.earth_km;
    this.#motion = (2 * Math.PI) / (header.period_s ?? 1);
    this.#earth = (2 * Math.PI) / header.day_s;
    const tilt = (header.inclination ?? 0) * RADIAN;
    const count = Math.ceil(given.length / this.#perPlane);
    this.#planes = new Float64Array(5 * count);
    for (let plane = 0; plane < count; plane++) {
      const node = (header.spacing ?? 0) * plane * RADIAN;
      const [c, s] = [Math.cos(node), Math.sin(node)];
      this.#planes.set([c, s, -s * Math.cos(tilt), c * Math.cos(tilt), Math.sin(tilt)], 5 * plane);
    }
  }

  at(time: number, out: Float64Array): void {
    const [ct, st] = [Math.cos(this.#motion * time), Math.sin(this.#motion * time)];
    const [ce, se] = [Math.cos(this.#earth * time), Math.sin(this.#earth * time)];
    const [cos, sin, planes, n, radius] = [this.#cos, this.#sin, this.#planes, this.#perPlane, this.#radius];
    const count = cos.length;
    for (let first = 0, plane = 0; first < count; first += n, plane += 5) {
      const px = planes[plane]!;
      const py = planes[plane + 1]!;
      const qx = planes[plane + 2]!;
      const qy = planes[plane + 3]!;
      const qz = planes[plane + 4]!;
      const end = Math.min(first + n, count);
      for (let i = first; i < end; i++) {
        const c = radius * (cos[i]! * ct - sin[i]! * st);
        const s = radius * (sin[i]! * ct + cos[i]! * st);
        const x = c * px + s * qx;
        const y = c * py + s * qy;
        out[3 * i] = x * ce + y * se;
        out[3 * i + 1] = y * ce - x * se;
        out[3 * i + 2] = s * qz;
      }
    }
  }
}

/** Satellites that stand over the equator. */
class Standing implements Motion {
  readonly #here: Float64Array;

  constructor(header: Header) {
    const radii = typeof header.radius_km === "object" ? header.radius_km : [];
    this.#here = new Float64Array(3 * header.count);
    (header.places ?? []).forEach(([longitude, latitude], i) => {
      this.#here.set(vector(longitude, latitude, radii[i] ?? header.earth_km), 3 * i);
    });
  }

  at(_: number, out: Float64Array): void {
    out.set(this.#here);
  }
}

interface Piece {
  readonly from: number;
  readonly step: number;
  readonly steps: number;
  readonly unit: number;
  readonly values: Int16Array;
}

/** Positions at even distances in time, with straight lines between them. */
class Sampled implements Motion {
  readonly #pieces: Piece[] = [];

  constructor(readonly count: number) {}

  take(samples: Samples): void {
    const raw = atob(samples.base64);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    const view = new DataView(bytes.buffer);
    const values = new Int16Array(raw.length / 2);
    for (let i = 0; i < values.length; i++) values[i] = view.getInt16(2 * i, true);
    this.#pieces.push({
      from: samples.from_s,
      step: samples.step_s,
      steps: samples.steps,
      unit: samples.unit_km,
      values,
    });
  }

  at(time: number, out: Float64Array): void {
    const piece = this.#pieces.findLast((one) => one.from <= time) ?? this.#pieces[0];
    if (piece === undefined || piece.steps < 2) {
      out.fill(0);
      return;
    }
    const at = Math.min(Math.max((time - piece.from) / piece.step, 0), piece.steps - 1);
    const k = Math.min(Math.floor(at), piece.steps - 2);
    const share = at - k;
    const { values, unit } = piece;
    const [a, b] = [3 * k * this.count, 3 * (k + 1) * this.count];
    for (let i = 0; i < 3 * this.count; i += 3) {
      const ax = values[a + i]!;
      const ay = values[a + i + 1]!;
      const az = values[a + i + 2]!;
      const bx = values[b + i]!;
      const by = values[b + i + 1]!;
      const bz = values[b + i + 2]!;
      const here = Math.sqrt(ax * ax + ay * ay + az * az);
      const there = Math.sqrt(bx * bx + by * by + bz * bz);
      if (here === 0 || there === 0) {
        out[i] = out[i + 1] = out[i + 2] = 0;
        continue;
      }
      const x = ax + (bx - ax) * share;
      const y = ay + (by - ay) * share;
      const z = az + (bz - az) * share;
      // The chord is inside of the orbit.
      const scale = (unit * (here + (there - here) * share)) / Math.sqrt(x * x + y * y + z * z);
      out[i] = x * scale;
      out[i + 1] = y * scale;
      out[i + 2] = z * scale;
    }
  }
}
