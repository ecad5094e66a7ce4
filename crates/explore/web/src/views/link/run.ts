// The answer while it comes: one question at a time, the old one cancelled by the new.
import { effect, signal } from "@preact/signals";
import { Problem, stream, Unreachable } from "../../lib/api";
import type { Params } from "../../lib/address";
import { returns, TAB } from "../../lib/server";
import { messageOf } from "../../ui";
import { key } from "./question";
import type { Answer, Begin, Line, Standing, Verdict } from "./types";

/** What is known of a question by now. */
export interface Shown {
  readonly options: Params;
  readonly begin: Begin;
  /** By `standing(row, size)`. */
  readonly standings: ReadonlyMap<string, Standing>;
  readonly progress: readonly [done: number, total: number];
  readonly verdict: Verdict | null;
  /** Runs that the verdict rests on: the bars may be ahead of it. */
  readonly judged: number;
  readonly answer: Answer | null;
  readonly isFinal: boolean;
}

/** What went wrong, and with which option. */
export interface Failure {
  readonly message: string;
  readonly option: string | undefined;
  /** The server is not there; the frame says so, and it is asked when it is back. */
  readonly isUnreachable: boolean;
}

/** The times of a cell by activity, where there are several; null where one did not end. */
export function several(standing: Standing | undefined): readonly { name: string; mean: number | null }[] | undefined {
  const times = Object.entries(standing?.cell.times_s ?? {});
  if (times.length < 2) return undefined;
  return times.map(([name, time]) => ({ name: name === "web" ? "page" : name, mean: time?.mean ?? null }));
}

/** The mean time of a row at a size; null where no run ended. */
export const meanOf = (standing: Standing | undefined) => standing?.cell.time_s?.mean ?? null;

export const place = (row: number, size: number) => `${row}/${size}`;

/** How long a server that has too much to do is left alone before it is asked again. */
const AGAIN_MS = 1000;

export class Run {
  /** The last question that has results: it stays until the next one has. */
  readonly shown = signal<Shown | null>(null);
  /** What the server read of the question that is asked, before any result. */
  readonly begun = signal<{ options: Params; begin: Begin } | null>(null);
  /** True while what is shown is not what is asked. */
  readonly isStale = signal(false);
  readonly failure = signal<Failure | null>(null);
  #control: AbortController | undefined;
  #key: string | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  /** Names the asker: its new question ends the one before. */
  readonly #tab: string;

  constructor(name = "") {
    this.#tab = TAB + name;
  }

  /** Asks, unless that is what was asked last. */
  ask(question: Params): void {
    const asked = key(question);
    if (asked === this.#key) return;
    this.stop();
    this.#key = asked;
    this.isStale.value = true;
    const control = new AbortController();
    this.#control = control;
    void this.#follow(question, control.signal);
  }

  /** Ends the work, here and on the server. */
  stop(): void {
    this.#control?.abort();
    clearTimeout(this.#again);
    this.#key = undefined;
  }

  async #follow(question: Params, signal: AbortSignal): Promise<void> {
    const coming = new Coming(question, (shown) => {
      if (signal.aborted) return;
      this.shown.value = shown;
      this.isStale.value = false;
    });
    const options = Object.entries(question);
    const each = (line: Line) => {
      if (signal.aborted) return;
      if ("begin" in line) this.begun.value = { options: question, begin: line.begin };
      coming.take(line);
      this.failure.value = null;
    };
    try {
      await stream<Line>("/api/link", { options, tab: this.#tab }, each, signal);
      coming.flush();
    } catch (error) {
      if (!signal.aborted) this.#fail(error, question);
    }
  }

  #fail(error: unknown, question: Params): void {
    const isBusy = error instanceof Problem && error.status === 429;
    const isUnreachable = error instanceof Unreachable;
    const option = error instanceof Problem ? error.details["option"] : undefined;
    this.failure.value = {
      message: messageOf(error),
      option: typeof option === "string" ? option : undefined,
      isUnreachable,
    };
    this.#key = undefined;
    if (isBusy) this.#again = setTimeout(() => this.ask(question), AGAIN_MS);
  }
}

/** Gathers lines and shows them once a frame. */
class Coming {
  #begin: Begin | undefined;
  #standings = new Map<string, Standing>();
  #progress: readonly [number, number] = [0, 0];
  #verdict: Verdict | null = null;
  #judged = 0;
  #answer: Answer | null = null;
  #isFinal = false;
  #frame = 0;

  constructor(
    readonly options: Params,
    readonly show: (shown: Shown) => void,
  ) {}

  take(line: Line): void {
    if ("begin" in line) {
      this.#begin = line.begin;
      return;
    }
    if ("rows" in line) {
      for (const standing of line.rows) this.#standings.set(place(standing.row, standing.size), standing);
      this.#progress = line.progress;
    } else if ("verdict" in line) {
      this.#verdict = line.verdict;
      this.#judged = this.#progress[0];
    } else if ("answer" in line) {
      this.#answer = line.answer;
      this.#isFinal = true;
    }
    // A page in the background has no frames; its end is flushed.
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.flush());
  }

  flush(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#begin === undefined || this.#standings.size === 0) return;
    this.show({
      options: this.options,
      begin: this.#begin,
      standings: new Map(this.#standings),
      progress: this.#progress,
      verdict: this.#verdict,
      judged: this.#judged,
      answer: this.#answer,
      isFinal: this.#isFinal,
    });
  }
}

/** Asks whenever the question changes, once a frame. Returns what ends that. */
export function follow(run: Run, question: () => Params): () => void {
  let frame = 0;
  const end = effect(() => {
    const now = question();
    // Asks again when the server is back.
    void returns.value;
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => run.ask(now));
  });
  return () => {
    end();
    cancelAnimationFrame(frame);
    run.stop();
  };
}
