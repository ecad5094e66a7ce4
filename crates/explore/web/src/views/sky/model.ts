// A constellation and the way of a flow over time, as far as the server has planned it.
import { lastAt } from "../../lib/search";
import { motionOf, vector, type Motion } from "./motion";
import type { Handover, Header, Leg, Line, Part, Samples, Statistics } from "./types";

interface Change {
  readonly at: number;
  readonly link: number;
  readonly to: readonly [number, number, number];
  /** What the link was before. */
  readonly from: readonly [number, number, number];
}

/** Satellites, the links between them, and the path between two places. */
export class Sky {
  readonly positions: Float64Array;
  /** Ends of links and whether they are up, as of the time that was last set. */
  readonly ends: Int32Array;
  readonly up: Uint8Array;
  /** The two places, in kilometres. */
  readonly ground: readonly [readonly [number, number, number], readonly [number, number, number]];
  legs: Leg[] = [];
  handovers: Handover[] = [];
  statistics: Statistics | undefined;
  /** Up to when it is planned, seconds. */
  until = 0;
  isDone = false;
  readonly #motion: Motion & { take?: (samples: Samples) => void };
  readonly #changes: Change[] = [];
  /** Links as they are after all changes that are known. */
  readonly #latest: (readonly [number, number, number])[];
  /** Changes that are in `ends` and `up`. */
  #done = 0;

  constructor(readonly header: Header) {
    this.positions = new Float64Array(3 * header.count);
    this.#motion = motionOf(header);
    this.ends = new Int32Array(2 * header.isls.length);
    this.up = new Uint8Array(header.isls.length);
    this.#latest = [...header.isls];
    header.isls.forEach((link, i) => this.#set(i, link));
    const on = (i: 0 | 1) => vector(header.ends[i].longitude, header.ends[i].latitude, header.earth_km);
    this.ground = [on(0), on(1)];
  }

  /** Takes a line of the server's answer. */
  take(line: Line): void {
    if (line.part !== undefined) this.#takePart(line.part);
    if (line.samples !== undefined) this.#motion.take?.(line.samples);
    if (line.done === true) this.isDone = true;
  }

  #takePart(part: Part): void {
    // The last path may have gone on after the end of the part before.
    this.legs = this.legs.filter((leg) => leg.from_s < part.since_s).concat(part.legs);
    this.handovers = this.handovers.filter((one) => one.at_s < part.since_s).concat(part.handovers);
    this.until = part.until_s;
    this.statistics = part.statistics;
    const known = this.#changes.at(-1)?.at ?? -1;
    for (const [ms, link, a, b, up] of part.changes) {
      const at = ms / 1000;
      if (at <= known) continue;
      const to = [a, b, up] as const;
      this.#changes.push({ at, link, to, from: this.#latest[link] ?? to });
      this.#latest[link] = to;
    }
  }

  #set(index: number, link: readonly [number, number, number]): void {
    this.ends[2 * index] = link[0];
    this.ends[2 * index + 1] = link[1];
    this.up[index] = link[2];
  }

  /** Brings positions and links to `time`, seconds. */
  go(time: number): void {
    this.#motion.at(time, this.positions);
    for (
      let next = this.#changes[this.#done];
      next !== undefined && next.at <= time;
      next = this.#changes[this.#done]
    ) {
      this.#set(next.link, next.to);
      this.#done++;
    }
    for (
      let last = this.#changes[this.#done - 1];
      last !== undefined && last.at > time;
      last = this.#changes[this.#done - 1]
    ) {
      this.#set(last.link, last.from);
      this.#done--;
    }
  }

  /** The leg at `time`, if that is planned. */
  legAt(time: number): Leg | undefined {
    return this.legs[lastAt(this.legs.length, (i) => this.legs[i]?.from_s ?? 0, time)];
  }

  /** The one-way delay of a leg at `time`, milliseconds. */
  delayOf(leg: Leg | undefined, time: number): number | undefined {
    if (leg?.path === null || leg === undefined) return undefined;
    const { delay } = leg;
    const i = lastAt(delay.length / 2, (k) => delay[2 * k] ?? 0, time);
    const [t, d] = [delay[2 * Math.max(i, 0)], delay[2 * Math.max(i, 0) + 1]];
    const [u, e] = [delay[2 * i + 2], delay[2 * i + 3]];
    if (t === undefined || d === undefined) return undefined;
    if (i < 0 || u === undefined || e === undefined || u === t) return d;
    return d + ((e - d) * (time - t)) / (u - t);
  }

  /** Handovers up to `time`. */
  handoversAt(time: number): number {
    return lastAt(this.handovers.length, (i) => this.handovers[i]?.at_s ?? 0, time) + 1;
  }

  /** The next handover after `time`, or the last one before it. */
  handoverFrom(time: number, step: 1 | -1): Handover | undefined {
    if (step === 1)
      return this.handovers[lastAt(this.handovers.length, (i) => this.handovers[i]?.at_s ?? 0, time + 1e-6) + 1];
    return this.handovers[lastAt(this.handovers.length, (i) => this.handovers[i]?.at_s ?? 0, time - 1e-3)];
  }

  /** What a stop of a path is called. */
  nameOf(stop: number): string {
    const { header } = this;
    if (stop < 0) {
      const place = header.ends[stop === -1 ? 0 : 1];
      return (place.name ?? place.text).split(",")[0] ?? place.text;
    }
    if (header.names !== undefined) return header.names[stop] ?? String(stop);
    if (header.kind === "standing") {
      const east = header.places?.[stop]?.[0] ?? 0;
      return `GEO ${Math.abs(east).toFixed(1)} ${east < 0 ? "W" : "E"}`;
    }
    const n = header.per_plane;
    return n === undefined ? String(stop) : `${Math.floor(stop / n)}-${stop % n}`;
  }

  /** The half angle of the cap of a satellite, degrees. */
  halfOf(satellite: number): number {
    return this.header.half[this.header.half.length === 1 ? 0 : satellite] ?? 0;
  }

  /** Where a stop is now, in kilometres; undefined for a satellite that is not there. */
  placeOf(stop: number): readonly [number, number, number] | undefined {
    if (stop < 0) return this.ground[stop === -1 ? 0 : 1];
    const p = this.positions;
    const [x, y, z] = [p[3 * stop] ?? 0, p[3 * stop + 1] ?? 0, p[3 * stop + 2] ?? 0];
    return x === 0 && y === 0 && z === 0 ? undefined : [x, y, z];
  }
}
