// Time: play, speed, scrub, from handover to handover.
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { announce, Button } from "../../ui";
import { clock, goTo, isPlaying, isPlanning, sky, speed, time, version } from "./store";

const SPEEDS = [1, 10, 60, 300, 1200, 3600];

/** Lets time go on while it plays. */
export function usePlaying(): void {
  useEffect(
    () =>
      effect(() => {
        if (!isPlaying.value) return undefined;
        let last: number | undefined;
        let frame = requestAnimationFrame(function step(now) {
          const until = sky.peek()?.until ?? 0;
          // A tab that was away does not jump.
          const passed = last === undefined ? 0 : Math.min((now - last) / 1000, 0.2);
          last = now;
          const next = time.peek() + passed * speed.peek();
          if (next >= until && sky.peek()?.isDone === true) time.value = 0;
          else time.value = Math.min(next, until);
          frame = requestAnimationFrame(step);
        });
        return () => cancelAnimationFrame(frame);
      }),
    [],
  );
}

/** Goes to the next handover, or the one before. */
export function toHandover(step: 1 | -1): void {
  const current = sky.peek();
  const found = current?.handoverFrom(time.peek(), step);
  if (current === undefined) return;
  isPlaying.value = false;
  if (found === undefined) {
    announce(step === 1 ? "There is no later handover." : "There is no earlier handover.");
    return;
  }
  goTo(found.at_s);
  const whose = found.ends.map((end) => current.nameOf(end === 0 ? -1 : -2)).join(" and ");
  const what =
    found.satellite === null ? "loses its satellite" : `goes to satellite ${current.nameOf(found.satellite)}`;
  announce(`${clock(found.at_s)}: ${whose} ${what}.`);
}

export function TimeBar() {
  const slider = useRef<HTMLInputElement>(null);
  const shown = useRef<HTMLOutputElement>(null);
  void version.value;
  const current = sky.value;
  const until = current?.until ?? 0;
  const all = current?.header.duration_s ?? 0;
  useEffect(
    () =>
      effect(() => {
        const at = time.value;
        const text = clock(at);
        if (shown.current !== null) shown.current.value = text;
        if (slider.current === null) return;
        slider.current.value = String(at);
        slider.current.setAttribute("aria-valuetext", text);
        slider.current.style.setProperty("--at", String(all > 0 ? (100 * at) / all : 0));
      }),
    [all],
  );
  const moves = (current?.handovers.length ?? 0) > 0;
  return (
    <div class="sky-time" role="group" aria-label="Time">
      <Button
        icon={isPlaying.value ? "pause" : "play"}
        label={isPlaying.value ? "Pause" : "Play"}
        keys="Space"
        onClick={() => (isPlaying.value = !isPlaying.value)}
      />
      <Button icon="back" label="Previous handover" keys="P" disabled={!moves} onClick={() => toHandover(-1)} />
      <Button icon="forward" label="Next handover" keys="N" disabled={!moves} onClick={() => toHandover(1)} />
      <output class="sky-clock" ref={shown} aria-label="Time since the start" aria-live="off">
        00:00:00
      </output>
      <input
        ref={slider}
        class="slider sky-scrub"
        type="range"
        aria-label="Time"
        min={0}
        max={all}
        step="any"
        onInput={(event) => {
          isPlaying.value = false;
          goTo(Number(event.currentTarget.value));
        }}
        onKeyDown={(event) => {
          const steps: Record<string, number> = {
            ArrowRight: 10,
            ArrowUp: 10,
            ArrowLeft: -10,
            ArrowDown: -10,
            PageUp: 600,
            PageDown: -600,
          };
          const step = steps[event.key];
          if (step === undefined) return;
          event.preventDefault();
          goTo(time.peek() + step * (event.shiftKey ? 6 : 1));
        }}
      />
      <label class="sky-speed">
        <span>Speed</span>
        <select
          class="input"
          value={String(speed.value)}
          onChange={(event) => (speed.value = Number(event.currentTarget.value))}
        >
          {SPEEDS.map((one) => (
            <option key={one} value={String(one)}>
              {one}×
            </option>
          ))}
        </select>
      </label>
      {isPlanning.value && until < all && (
        <span class="busy" role="status">
          {clock(until)} of {clock(all)} computed
        </span>
      )}
    </div>
  );
}
