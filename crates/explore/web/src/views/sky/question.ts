// The address of the view as a question, and back. Names of parameters that `bentpipe
// compare` has as options are the same; those of the view alone begin with `_`.
import type { Params } from "../../lib/address";
import { shellWord } from "../../lib/shell";
import type { GivenFile, Question } from "./types";

/** Satellites to choose from. */
export const ORBITS = [
  { value: "iridium", label: "Iridium: 66 at 780 km, polar" },
  { value: "teledesic", label: "Teledesic: 288 at 1375 km, polar" },
  { value: "starlink", label: "Starlink: 1584 at 550 km, first shell" },
  { value: "geo", label: "Geostationary: one satellite" },
  { value: "walker", label: "A Walker shell of my own" },
  { value: "file", label: "Satellites of a file (TLE, OMM)" },
] as const;

export const DEFAULTS = {
  orbit: "starlink",
  from: "Berlin",
  to: "New York",
  hours: "24",
  pattern: "53: 1584/72/65",
  altitude: "550",
  shape: "delta",
  handover: "keep",
} as const;

function number(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** What the address asks; undefined while a file is wanted and there is none. */
export function questionOf(params: Params, file: GivenFile | undefined): Question | undefined {
  const orbit = params["orbit"] ?? DEFAULTS.orbit;
  const question: Question = {
    orbit,
    from: params["from"] ?? DEFAULTS.from,
    to: params["to"] ?? DEFAULTS.to,
    hours: number(params["hours"]) ?? Number(DEFAULTS.hours),
  };
  if (orbit === "file") {
    if (file === undefined) return undefined;
    question.file = file;
  }
  const slot = number(params["slot"]);
  if (orbit === "geo" && slot !== undefined) question.slot = slot;
  if (orbit === "walker") {
    question.pattern = params["pattern"] ?? DEFAULTS.pattern;
    question.altitude_km = number(params["altitude"]) ?? Number(DEFAULTS.altitude);
    question.shape = params["shape"] ?? DEFAULTS.shape;
  }
  const mask = number(params["mask"]);
  if (mask !== undefined) question.mask = mask;
  const handover = params["handover"];
  if (handover !== undefined && orbit !== "geo") question.handover = handover;
  if (params["isl"] === "no" && orbit !== "geo") question.isl = false;
  return question;
}

/** The command that compares transports over the same satellites, where there is one. */
export function compareCommand(question: Question): string | undefined {
  if (question.orbit === "walker" || question.orbit === "file") return undefined;
  // What the options of compare cannot say.
  if (question.mask !== undefined || question.handover !== undefined || question.isl !== undefined) return undefined;
  const slot = question.slot === undefined ? "" : ` --slot ${question.slot}`;
  return `bentpipe compare --orbit ${question.orbit}${slot} --from ${shellWord(question.from)} --to ${shellWord(question.to)}`;
}
