// The state of the view: the sky that is planned, the time that is shown, the camera.
import { batch, signal } from "@preact/signals";
import { Problem, stream } from "../../lib/api";
import { Sky } from "./model";
import type { Camera } from "./paint/view";
import type { GivenFile, Line, Question } from "./types";

/** The file that was dropped or chosen; it is not in the address. */
export const file = signal<GivenFile | undefined>(undefined);
export const sky = signal<Sky | undefined>(undefined);
/** Counts what came in, so that charts draw again. */
export const version = signal(0);
export const failure = signal<unknown>(undefined);
export const isPlanning = signal(false);

/** Seconds from the beginning. */
export const time = signal(0);
export const isPlaying = signal(false);
/** Seconds that pass in one. */
export const speed = signal(60);
export const camera = signal<Camera>({ longitude: -30, latitude: 35, zoom: 1 });
/** Which place the next click on the map chooses. */
export const picking = signal<"from" | "to" | undefined>(undefined);

let running: AbortController | undefined;
let asked = "";

/** Asks for another sky; the one before is shown until the first part has come. */
export function plan(question: Question): void {
  const text = JSON.stringify(question);
  if (text === asked && failure.peek() === undefined) return;
  asked = text;
  running?.abort();
  const controller = new AbortController();
  running = controller;
  batch(() => {
    failure.value = undefined;
    isPlanning.value = true;
  });
  let next: Sky | undefined;
  const take = (line: Line) => {
    if (line.sky !== undefined) {
      next = new Sky(line.sky);
      return;
    }
    const current = next;
    current?.take(line);
    if (current === undefined || current.legs.length === 0) return;
    batch(() => {
      sky.value = current;
      version.value++;
      // A shorter sky than the one before begins again.
      if (time.peek() > current.header.duration_s) time.value = 0;
    });
  };
  stream<Line>("/api/sky", question, take, controller.signal)
    .catch((error: unknown) => {
      if (controller.signal.aborted) return;
      asked = "";
      failure.value = error;
    })
    .finally(() => {
      if (running === controller) isPlanning.value = false;
    });
}

/** Ends what goes on when the view is left. */
export function leave(): void {
  running?.abort();
  running = undefined;
  asked = "";
  isPlaying.value = false;
  picking.value = undefined;
}

/** Goes to a time that is planned. */
export function goTo(seconds: number): void {
  const until = sky.peek()?.until ?? 0;
  time.value = Math.max(0, Math.min(until, seconds));
}

/** Zooms the camera; a map is never smaller than its frame. */
export function zoomBy(factor: number, projection: "globe" | "map"): void {
  const now = camera.peek();
  camera.value = { ...now, zoom: Math.min(40, Math.max(projection === "globe" ? 0.1 : 1, now.zoom * factor)) };
}

/** The field of the question that a problem is about. */
export function fieldOf(error: unknown): string | undefined {
  const field = error instanceof Problem ? error.details["field"] : undefined;
  return typeof field === "string" ? field : undefined;
}

/** `01:02:03`. */
export function clock(seconds: number): string {
  const two = (n: number) => String(Math.floor(n)).padStart(2, "0");
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
}
