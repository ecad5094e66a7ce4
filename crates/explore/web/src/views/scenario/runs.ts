// Runs of the text, and what came out.
import { signal } from "@preact/signals";
import { ask, stream } from "../../lib/api";
import { announce, messageOf } from "../../ui";
import type { ScenarioDocument } from "./document";
import type { Measured, Result, RunLine, TableAnswer } from "./types";

export type Where = "sim" | "both";

export interface Progress {
  /** From 0 to 1. */
  done: number;
  text: string;
}

export class Runs {
  readonly seed = signal("");
  readonly count = signal("1");
  readonly on = signal<Where>("sim");
  readonly progress = signal<Progress | undefined>(undefined);
  readonly result = signal<Result | undefined>(undefined);
  readonly spread = signal<TableAnswer | undefined>(undefined);
  readonly measured = signal<Measured | undefined>(undefined);
  readonly failure = signal<string | undefined>(undefined);
  /** What runs on this machine lack; undefined until that is known. */
  readonly lacking = signal<string | null | undefined>(undefined);
  /** The text that the result is of. */
  readonly of = signal("");
  #stop: AbortController | undefined;

  /** Asks what the machine can do. */
  async look(): Promise<void> {
    const { lacking } = await ask<{ lacking: string | null }>("/api/scenario/machine");
    this.lacking.value = lacking;
  }

  get isRunning(): boolean {
    return this.#stop !== undefined;
  }

  stop(): void {
    this.#stop?.abort();
  }

  async start(scenario: ScenarioDocument): Promise<void> {
    this.stop();
    const stop = new AbortController();
    this.#stop = stop;
    const text = scenario.text.value;
    this.failure.value = undefined;
    this.result.value = undefined;
    this.spread.value = undefined;
    this.measured.value = undefined;
    this.of.value = text;
    this.progress.value = { done: 0, text: "starting" };
    const body = {
      text,
      path: scenario.path,
      name: scenario.name,
      seed: this.seed.value.trim() === "" ? null : Number(this.seed.value),
      runs: Number(this.count.value),
      series: true,
      both: this.on.value === "both",
    };
    try {
      await stream<RunLine>("/api/scenario/run", body, (line) => this.#take(line), stop.signal);
      announce(this.result.value === undefined ? "The run ended without a result." : "The run has ended.");
    } catch (error) {
      if (this.#stop !== stop) return;
      if (!stop.signal.aborted) this.failure.value = messageOf(error);
      else announce("The run was stopped.");
    } finally {
      if (this.#stop === stop) {
        this.#stop = undefined;
        this.progress.value = undefined;
      }
    }
  }

  #take(line: RunLine): void {
    if (line.progress !== undefined) {
      const { run, runs, at_s, end_s, what } = line.progress;
      const of = runs > 1 ? `run ${run} of ${runs}, ` : "";
      this.progress.value = {
        done: (run - 1 + at_s / Math.max(end_s, 1e-9)) / runs,
        text: `${what ?? ""} ${of}${at_s.toFixed(0)} s of ${what === undefined ? "" : "at most "}${end_s.toFixed(0)} s`.trim(),
      };
    }
    if (line.result !== undefined) this.result.value = line.result;
    if (line.measured !== undefined) this.measured.value = line.measured;
    if (line.spread !== undefined && line.spread !== null) this.spread.value = line.spread;
  }
}
