// The transports as bars: the mean time with its 95% interval, the ideal time as a line,
// what others lose beside it, and what can be switched on today. The order is held while
// the pointer or the focus is in it.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { decimal, ticks } from "./numbers";
import { meanOf, place, several, type Run, type Shown } from "./run";
import type { Begin, RowFacts, Standing } from "./types";

/** A row of the ranking. */
interface Item {
  /** The same for the same transport of another question. */
  readonly key: string;
  readonly facts: RowFacts;
  readonly standing: Standing | undefined;
}

/** How a row is called: a gateway's transport is its own, and has no name. */
export const shownName = (row: { pep: string; transport: string }) =>
  row.pep === "gateway" && row.transport === "its own" ? "the gateway's own" : row.transport;

export const nameOf = (row: { pep: string; transport: string }) => `${row.pep}/${row.transport}`;

/** Bars end at so many times the baseline's time: what is slower is cut. */
const CUT = 3;

/** The rows of a proxy, the fastest first. */
function ordered(shown: Shown, size: number): Item[] {
  const items = shown.begin.rows.map(
    (facts): Item => ({ key: nameOf(facts), facts, standing: shown.standings.get(place(facts.row, size)) }),
  );
  const order = shown.begin.sizes.length === 1 ? shown.verdict?.order : undefined;
  const rank = new Map(order?.map((row, i) => [row, i]));
  const pep = new Map(shown.begin.peps.map((each, i) => [each.pep, i]));
  // Of several activities by what all of them save, as the command does.
  const time = ({ facts, standing }: Item) => {
    if (several(standing) === undefined) return meanOf(standing) ?? Infinity;
    return facts.row === shown.begin.baseline ? 0 : -(standing?.gain?.share ?? -Infinity);
  };
  return items.toSorted((a, b) => {
    const byPep = (pep.get(a.facts.pep) ?? 0) - (pep.get(b.facts.pep) ?? 0);
    if (byPep !== 0) return byPep;
    if (shown.isFinal && rank.size > 0) return (rank.get(a.facts.row) ?? 0) - (rank.get(b.facts.row) ?? 0);
    const [ta, tb] = [time(a), time(b)];
    return ta === tb ? a.facts.row - b.facts.row : ta - tb;
  });
}

/** The end of the scale: a time beyond the bars, but for those that are cut. */
function end(items: readonly Item[], shown: Shown, size: number): number {
  const ends = items.flatMap(({ standing }) => {
    const times = several(standing);
    if (times !== undefined) return times.flatMap(({ mean }) => (mean === null ? [] : [mean]));
    const time = standing?.cell.time_s;
    return time == null ? [] : [time.mean + (time.ci95 ?? 0)];
  });
  const baseline = meanOf(shown.standings.get(place(shown.begin.baseline, size))) ?? Math.min(...ends);
  const most = Math.max(...ends, 0);
  const cut = Number.isFinite(baseline) ? Math.max(CUT * baseline, 2 * Math.min(...ends)) : most;
  // In steps, so that the scale rests while intervals shrink.
  const step = Math.log(1.08);
  return Math.exp(Math.ceil(Math.log(Math.max(Math.min(most, cut), 1e-3) * 1.01) / step) * step);
}

/** Keeps the order of the keys while held; what is new comes where it belongs. */
function useOrder(items: readonly Item[], isHeld: boolean): readonly Item[] {
  const kept = useRef<readonly string[]>([]);
  const keys = items.map((item) => item.key);
  const isSame = keys.length === kept.current.length && keys.every((key) => kept.current.includes(key));
  if (!isHeld || !isSame) {
    kept.current = keys;
    return items;
  }
  const at = new Map(kept.current.map((key, i) => [key, i]));
  return items.toSorted((a, b) => (at.get(a.key) ?? 0) - (at.get(b.key) ?? 0));
}

/** Moves rows to their new places instead of jumping (first, last, invert, play). */
function useGlide(list: { readonly current: HTMLElement | null }): void {
  const tops = useRef(new Map<string, number>());
  useLayoutEffect(() => {
    const now = new Map<string, number>();
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const row of list.current?.querySelectorAll<HTMLElement>("[data-key]") ?? []) {
      const key = row.dataset["key"] ?? "";
      now.set(key, row.offsetTop);
      const was = tops.current.get(key);
      if (was === undefined || was === row.offsetTop || isCalm) continue;
      row.animate([{ transform: `translateY(${was - row.offsetTop}px)` }, { transform: "none" }], {
        duration: 260,
        easing: "cubic-bezier(.2,.7,.2,1)",
      });
    }
    tops.current = now;
  });
}

/** Seconds that no download over one connection can beat: known of a user who has the link alone. */
export function bound(begin: Begin, size: number): number | null {
  const isAlone = begin.users === 1 && begin.beside === null && begin.background === null;
  return isAlone ? (begin.ideal_times_s[size] ?? null) : null;
}

interface RankingProps {
  readonly run: Run;
  readonly size: number;
  /** What one compares with, drawn as outlines. */
  readonly ghost: Shown | null;
  readonly selected: string | undefined;
  readonly beside: string | undefined;
  readonly onSelect: (key: string) => void;
}

export function Ranking({ run, size, ghost, selected, beside, onSelect }: RankingProps) {
  const shown = run.shown.value;
  const isStale = run.isStale.value;
  const [isHeld, hold] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const items = useOrder(shown === null ? [] : ordered(shown, size), isHeld);
  useGlide(list);
  useLayoutEffect(() => painted(shown, isStale), [shown?.begin.id, isStale]);
  if (shown === null)
    return run.failure.value === null ? <div class="link-ranking link-empty" aria-busy="true" /> : null;
  const most = end(items, shown, size);
  const ideal = bound(shown.begin, size);
  const peps = shown.begin.peps;
  const activities = several(items[0]?.standing)?.map(({ name }) => name);
  return (
    <div
      ref={list}
      class={`link-ranking${isStale ? " link-stale" : ""}${activities === undefined ? "" : " link-several"}`}
      role="table"
      aria-label={`Transports by the time of a ${shown.begin.unit}${shown.begin.sizes.length > 1 ? ` of ${shown.begin.sizes[size]}` : ""}`}
      aria-busy={isStale}
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocusIn={() => hold(true)}
      onFocusOut={() => hold(false)}
    >
      <Head
        most={most}
        ideal={ideal}
        unit={shown.begin.unit}
        activities={activities}
        baseline={shown.begin.rows[shown.begin.baseline]?.transport ?? ""}
      />
      {items.flatMap((item, i) => {
        const row = (
          <Row
            key={item.key}
            item={item}
            shown={shown}
            most={most}
            ideal={ideal}
            was={ghost === null ? undefined : former(ghost, shown, item, size)}
            isSelected={item.key === selected}
            isBeside={item.key === beside}
            onSelect={onSelect}
          />
        );
        const { pep } = item.facts;
        if (peps.length < 2 || pep === items[i - 1]?.facts.pep) return [row];
        return [<Pep key={pep} pep={pep} about={peps.find((each) => each.pep === pep)?.about ?? ""} />, row];
      })}
    </div>
  );
}

/** The time of the same transport, for the same size, in what one compares with. */
function former(ghost: Shown, shown: Shown, item: Item, size: number): Standing | undefined {
  const row = ghost.begin.rows.find((facts) => nameOf(facts) === item.key);
  const bytes = shown.begin.sizes_bytes[size];
  const same =
    ghost.begin.traffic === shown.begin.traffic ? ghost.begin.sizes_bytes.findIndex((each) => each === bytes) : -1;
  return row === undefined || same < 0 ? undefined : ghost.standings.get(place(row.row, same));
}

/** Measures from the change to the first bars that the browser has painted. */
function painted(shown: Shown | null, isStale: boolean): void {
  if (shown === null || isStale || performance.getEntriesByName("link:change").length === 0) return;
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      if (performance.getEntriesByName("link:change").length > 0) performance.measure("link:first", "link:change");
      performance.clearMarks("link:change");
    };
    channel.port2.postMessage(null);
  });
}

const at = (value: number, most: number) => `${Math.min(100, Math.max(0, (value / most) * 100)).toFixed(3)}%`;

interface HeadProps {
  readonly most: number;
  readonly ideal: number | null;
  readonly unit: string;
  /** Where there are several. */
  readonly activities: readonly string[] | undefined;
  readonly baseline: string;
}

function Head({ most, ideal, unit, activities, baseline }: HeadProps) {
  return (
    <div class="link-row link-head" role="row">
      <span role="columnheader">Transport</span>
      <span role="columnheader" class="link-axis" aria-label={`Time of a ${unit}, with its 95% interval`}>
        {ticks(most, 6).map((tick) => (
          <span key={tick} class="link-tick" style={{ "--x": at(tick, most) }}>
            {Number(tick.toPrecision(6))}
          </span>
        ))}
        {ideal !== null && ideal <= most && (
          <span class="link-ideal-label" style={{ "--x": at(ideal, most) }}>
            ideal {decimal(ideal)} s
          </span>
        )}
      </span>
      <span role="columnheader" class="link-number">
        {activities === undefined ? "time [s]" : `${activities.join(" · ")} [s]`}
      </span>
      <span role="columnheader" class="link-number" title={`Time saved against ${baseline}`}>
        gain
      </span>
      <span role="columnheader" class="link-others-head" title={`Time that a user of ${baseline} beside it loses`}>
        others lose
      </span>
    </div>
  );
}

function Pep({ pep, about }: { pep: string; about: string }) {
  return (
    <div class="link-pep" role="row">
      <span role="cell">
        <strong>{pep === "none" ? "no proxy" : pep}</strong> {pep === "none" ? "" : about}
      </span>
    </div>
  );
}

interface RowProps {
  readonly item: Item;
  readonly shown: Shown;
  readonly most: number;
  readonly ideal: number | null;
  readonly was: Standing | undefined;
  readonly isSelected: boolean;
  readonly isBeside: boolean;
  readonly onSelect: (key: string) => void;
}

function Row({ item, shown, most, ideal, was, isSelected, isBeside, onSelect }: RowProps) {
  const { facts, standing } = item;
  const isPick = shown.verdict?.pick_row === facts.row;
  const isBaseline = shown.begin.baseline === facts.row;
  const classes = [
    "link-row",
    isPick && "link-pick",
    isBaseline && "link-baseline",
    !facts.deployable && "link-absent",
    isSelected && "link-selected",
    isBeside && "link-beside",
  ];
  const unfinished = standing?.cell.unfinished_runs ?? 0;
  return (
    <div class={classes.filter(Boolean).join(" ")} role="row" data-key={item.key} onClick={() => onSelect(item.key)}>
      <span role="rowheader" class="link-name">
        <button
          type="button"
          aria-pressed={isSelected}
          title={facts.about}
          onClick={(event) => (event.stopPropagation(), onSelect(item.key))}
        >
          {shownName(facts)}
        </button>
        {isPick && <span class="link-tag link-tag-pick">advised</span>}
        {isBaseline && <span class="link-tag">default</span>}
        {!isBaseline && <span class="link-how-had">{facts.availability}</span>}
      </span>
      <span role="cell" class="link-track">
        <Bar standing={standing} most={most} ideal={ideal} was={was} />
      </span>
      <span role="cell" class="link-number link-time">
        <Time standing={standing} />
        {unfinished > 0 && (
          <span class="link-unfinished">
            {unfinished} of {standing?.cell.runs} did not finish
          </span>
        )}
      </span>
      <span role="cell" class="link-number link-gain">
        {standing?.shown.gain ?? ""}
      </span>
      <span role="cell" class="link-others">
        {!isBaseline && standing?.others != null && <Harm standing={standing} />}
      </span>
    </div>
  );
}

/** The mean time with half of its interval; of several activities each. */
function Time({ standing }: { standing: Standing | undefined }) {
  if (standing === undefined) return <>…</>;
  const times = several(standing);
  if (times !== undefined) {
    return <>{times.map(({ mean }) => (mean === null ? "no end" : decimal(mean))).join(" · ")}</>;
  }
  if (standing.shown.time === null) return <>no end</>;
  return (
    <>
      {standing.shown.time}
      {standing.shown.ci95 !== null && <small> ±{standing.shown.ci95}</small>}
    </>
  );
}

function Bar({
  standing,
  most,
  ideal,
  was,
}: {
  standing: Standing | undefined;
  most: number;
  ideal: number | null;
  was: Standing | undefined;
}) {
  const mean = meanOf(standing);
  const times = several(standing) ?? [];
  const half = times.length === 0 ? (standing?.cell.time_s?.ci95 ?? 0) : 0;
  const before = meanOf(was);
  return (
    <>
      {mean !== null && times.length === 0 && (
        <span class={`link-bar${mean > most ? " link-cut" : ""}`} style={{ "--x": at(mean, most) }} />
      )}
      {times.map((time, i) => (
        <span
          key={time.name}
          class={`link-bar link-part link-part${i}${(time.mean ?? Infinity) > most ? " link-cut" : ""}`}
          style={{ "--x": at(time.mean ?? most, most), "--n": times.length, "--i": i }}
          title={`${time.name}: ${time.mean === null ? "no end" : `${decimal(time.mean)} s`}`}
        />
      ))}
      {standing !== undefined && mean === null && <span class="link-bar link-endless" style={{ "--x": "100%" }} />}
      {before !== null && (
        <span class="link-was" style={{ "--x": at(before, most) }} title={`before: ${decimal(before)} s`} />
      )}
      {mean !== null && half > 0 && mean - half < most && (
        <span class="link-interval" style={{ "--x": at(mean - half, most), "--to": at(mean + half, most) }} />
      )}
      {ideal !== null && ideal <= most && <span class="link-ideal" style={{ "--x": at(ideal, most) }} />}
    </>
  );
}

/** Beyond this share the mark is at the end of its scale. */
const MOST_HARM = 0.5;

/** What the server calls an effect on others, in words. */
const EFFECTS: Readonly<Record<string, string>> = {
  hurts: "hurts others",
  "may hurt": "may hurt others",
  helps: "helps others",
  none: "no harm shown",
};

/** What others lose, to the right, or gain, to the left. */
function Harm({ standing }: { standing: Standing }) {
  const { others, effect } = standing;
  if (others === null || effect === null) return null;
  const half = others.ci95 ?? 0;
  const to = (share: number) => `${(50 + 50 * Math.max(-1, Math.min(1, share / MOST_HARM))).toFixed(2)}%`;
  const words = EFFECTS[effect] ?? effect;
  return (
    <span
      class={`link-harm link-harm-${effect.replace(" ", "-")}`}
      title={`${words}: beside it a user takes ${decimal(others.time_beside_it_s)} s instead of ${decimal(others.time_before_s)} s (${others.runs} runs)`}
    >
      <span class="link-harm-track" aria-hidden="true">
        <span
          class="link-harm-bar"
          style={{ "--x": to(Math.min(0, others.time_lost_share)), "--to": to(Math.max(0, others.time_lost_share)) }}
        />
        {half > 0 && (
          <span
            class="link-interval"
            style={{ "--x": to(others.time_lost_share - half), "--to": to(others.time_lost_share + half) }}
          />
        )}
      </span>
      <span class="link-harm-text">
        {standing.shown.others}
        <span class="sr">, {words}</span>
      </span>
    </span>
  );
}
