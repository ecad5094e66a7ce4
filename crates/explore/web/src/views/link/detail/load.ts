// Asks the server for runs over time, and keeps what came.
import { useEffect, useState } from "preact/hooks";
import { ask, stream } from "../../../lib/api";
import { returns } from "../../../lib/server";
import type { Answer, Asked, Band, Packets, Run } from "./types";

/** A run, then its band; `asked` undefined asks nothing. */
export interface Loaded {
  readonly run: Run | undefined;
  /** `undefined` while it is computed, `null` of a single run. */
  readonly band: Band | null | undefined;
  readonly error: unknown;
  /** What is shown is of another question; the answer to this one is on its way. */
  readonly isStale: boolean;
}

const NOTHING: Loaded = { run: undefined, band: undefined, error: undefined, isStale: false };

export function useRun(asked: Asked | undefined): Loaded & { retry: () => void } {
  const [loaded, set] = useState<Loaded>(NOTHING);
  const [tries, again] = useState(0);
  const key = JSON.stringify(asked ?? null);
  const back = returns.value;
  useEffect(() => {
    if (asked === undefined) {
      // What is shown stays until there is something else.
      set((before) => ({ ...before, isStale: before.run !== undefined }));
      return undefined;
    }
    const control = new AbortController();
    set((before) => ({ ...before, error: undefined, isStale: true }));
    const take = (line: Answer) => {
      if (control.signal.aborted) return;
      if ("run" in line) set({ run: line.run, band: undefined, error: undefined, isStale: false });
      else if ("band" in line) set((before) => ({ ...before, band: line.band }));
    };
    stream<Answer>("/api/link/curves", asked, take, control.signal).catch((error: unknown) => {
      if (!control.signal.aborted) set((before) => ({ ...before, error, isStale: false }));
    });
    return () => control.abort();
  }, [key, tries, back]);
  return { ...loaded, retry: () => again((n) => n + 1) };
}

export interface LoadedPackets {
  readonly packets: Packets | undefined;
  readonly error: unknown;
  readonly isStale: boolean;
}

/** The packets of a run between two times. */
export function usePackets(asked: Asked, from: number, to: number): LoadedPackets {
  const [loaded, set] = useState<LoadedPackets>({ packets: undefined, error: undefined, isStale: true });
  const key = JSON.stringify([asked, from, to]);
  const back = returns.value;
  useEffect(() => {
    const control = new AbortController();
    set((before) => ({ ...before, error: undefined, isStale: true }));
    ask<Packets>("/api/link/packets", { ...asked, from, to }, control.signal).then(
      (packets) => set({ packets, error: undefined, isStale: false }),
      (error: unknown) => {
        if (!control.signal.aborted) set({ packets: undefined, error, isStale: false });
      },
    );
    return () => control.abort();
  }, [key, back]);
  return loaded;
}
