// The text that is edited, what the server says of it, and edits that come from the picture.
import { signal } from "@preact/signals";
import { ask, Problem, Unreachable } from "../../lib/api";
import { messageOf } from "../../ui/State";
import { toast } from "../../ui/toast";
import { positions } from "./offsets";
import type { Checked, Diagnostic, Drawing, Edit, Entry, Facts, Splice } from "./types";

/** A check of a text that is up to date: its places are those of the editor. */
export interface Current {
  text: string;
  checked: Checked;
  /** Turns bytes into positions of the editor. */
  at: (byte: number) => number;
}

/** What the editor does for others. */
export interface Surface {
  /** Replaces what each step says, as one step of the history. */
  splice(steps: readonly (readonly Splice[])[], text: string): void;
  select(from: number, to: number): void;
  setText(text: string): void;
  undo(): void;
  redo(): void;
  focus(): void;
}

/** Where the text comes from, and what it was there. */
export interface Origin {
  kind: "file" | "example" | "own";
  /** The file's path below the opened folder, or the example's name. */
  name: string;
  text: string;
}

const PENDING_MS = 700;

export class ScenarioDocument {
  readonly text = signal("");
  readonly origin = signal<Origin>({ kind: "own", name: "scenario", text: "" });
  /** What was found last; undefined before the first answer. */
  readonly current = signal<Current | undefined>(undefined);
  /** Of the last text that is TOML. */
  readonly places = signal<readonly Entry[]>([]);
  /** Of the last text that is TOML. */
  readonly drawing = signal<Drawing | undefined>(undefined);
  /** Of the last valid text. */
  readonly facts = signal<Facts | undefined>(undefined);
  /** True while the drawing and the places are of another text than the editor's. */
  readonly isBehind = signal(false);
  readonly failure = signal<string | undefined>(undefined);
  /** What is chosen in the picture: `["link", "satellite"]`. */
  readonly chosen = signal<readonly string[] | undefined>(undefined);
  surface: Surface | undefined;
  #isAsking = false;
  #isDirty = false;
  #timer = 0;
  readonly #ends = new AbortController();

  /** The file that the text is of, for the files that it names. */
  get path(): string | null {
    return this.origin.value.kind === "file" ? this.origin.value.name : null;
  }

  /** What results call the scenario. */
  get name(): string {
    return this.origin.value.name.replace(/^.*\//, "").replace(/\.toml$/, "");
  }

  /** The text was edited. */
  changed(text: string): void {
    if (text === this.text.value && this.current.value !== undefined) return;
    this.text.value = text;
    this.isBehind.value = this.current.value !== undefined;
    this.#check();
  }

  /** Another text takes its place; the editor's history stays. */
  open(text: string, origin: Origin): void {
    this.origin.value = origin;
    this.chosen.value = undefined;
    if (this.surface === undefined) this.changed(text);
    else this.surface.setText(text);
    this.#check();
  }

  /** Ends its requests. */
  close(): void {
    this.#ends.abort();
    clearTimeout(this.#timer);
  }

  /** Asks for a check; one at a time, always of the newest text. */
  #check(): void {
    clearTimeout(this.#timer);
    this.#isDirty = true;
    if (!this.#isAsking && !this.#ends.signal.aborted) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    while (this.#isDirty && !this.#ends.signal.aborted) {
      this.#isDirty = false;
      const text = this.text.value;
      try {
        const checked = await ask<Checked>(
          "/api/scenario/check",
          { text, path: this.path, name: this.name },
          this.#ends.signal,
        );
        this.failure.value = undefined;
        if (text === this.text.value) this.#take(text, checked);
      } catch (error) {
        if (this.#ends.signal.aborted) break;
        if (!(error instanceof Problem) && !(error instanceof Unreachable)) {
          this.#isAsking = false;
          throw error;
        }
        this.failure.value = error.message;
        const again = error instanceof Unreachable || error.status === 429;
        if (again) this.#timer = window.setTimeout(() => this.#check(), 2 * PENDING_MS);
      }
    }
    this.#isAsking = false;
  }

  #take(text: string, checked: Checked): void {
    this.current.value = { text, checked, at: positions(text) };
    if (checked.places !== null) {
      this.places.value = checked.places;
      this.isBehind.value = false;
    }
    if (checked.drawing !== null) this.drawing.value = checked.drawing;
    if (checked.facts !== null) this.facts.value = checked.facts;
    if (checked.pending) this.#timer = window.setTimeout(() => this.#check(), PENDING_MS);
  }

  /** What is wrong, of the text as it is now; the last known while a check goes on. */
  get diagnostics(): readonly Diagnostic[] {
    return this.current.value?.checked.diagnostics ?? [];
  }

  /** The entry at a path. */
  entry(path: readonly string[]): Entry | undefined {
    return this.places.value.find(
      (entry) => entry.path.length === path.length && entry.path.every((key, i) => key === path[i]),
    );
  }

  /** A single value, without quotes. */
  value(path: readonly string[]): string | undefined {
    return this.entry(path)?.text ?? undefined;
  }

  /** Selects the text of a table or value. */
  show(path: readonly string[]): void {
    const entry = this.entry(path);
    const current = this.current.value;
    if (entry === undefined || current === undefined || this.isBehind.value) return;
    const [from, to] = entry.body ?? entry.value;
    this.surface?.select(current.at(from), current.at(to));
  }

  /** Makes edits of the picture in the text, as one step; true if they were made. */
  async edit(...edits: Edit[]): Promise<boolean> {
    const text = this.text.value;
    try {
      const { splices } = await ask<{ splices: Splice[][] }>("/api/scenario/edit", { text, edits });
      if (text !== this.text.value) {
        toast("The text was changed in the meantime; try again.", "bad");
        return false;
      }
      this.surface?.splice(splices, text);
      return true;
    } catch (error) {
      toast(messageOf(error), "bad");
      return false;
    }
  }
}
