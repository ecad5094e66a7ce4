// A run packet by packet: a time-sequence diagram, and each step in words.
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Failed, Loading } from "../../../ui";
import { Diagram } from "./Diagram";
import { usePackets } from "./load";
import type { Asked, Run, Step, StepKind } from "./types";
import { counted, digits } from "./words";

/** Round trips that are shown at once, to choose from. */
const WIDTHS = [0.25, 0.5, 1, 2, 4, 8] as const;

/** Part of what is shown that lies before a loss that was looked for. */
const LEAD = 0.1;

/** A loss that is looked for: its time, seconds of the run, and the direction. */
interface Loss {
  readonly t: number;
  readonly sign: 1 | -1;
}

const isLoss = (kind: StepKind) => kind === "lost" || kind === "lost_ack" || kind === "timeout" || kind === "resent";

/** The step to show first. */
function placeOf(wanted: "first" | "last" | Loss, steps: readonly Step[]): number {
  if (wanted === "first") return 0;
  if (wanted === "last") return Math.max(0, steps.length - 1);
  const { t, sign } = wanted;
  const isIt = (step: Step) => isLoss(step.kind) && (sign > 0 ? step.t >= t : step.t <= t);
  return Math.max(0, sign > 0 ? steps.findIndex(isIt) : steps.findLastIndex(isIt));
}

export interface StepperProps {
  readonly asked: Asked;
  readonly run: Run;
  /** Where the window begins, seconds of the run. */
  readonly from: number;
  readonly onFrom: (from: number) => void;
}

export function Stepper({ asked, run, from, onFrom }: StepperProps) {
  const [trips, setTrips] = useState<number>(2);
  const [at, setAt] = useState(0);
  // Where to begin in the packets that are being loaded: at an end, or at a loss.
  const wanted = useRef<"first" | "last" | Loss>("first");
  const begin = Math.max(0, Math.min(from, run.end_s));
  const width = Math.max(1e-4, trips * run.link.rtt_s);
  const { packets, error, isStale } = usePackets({ ...asked, seed: run.seed }, begin, begin + width);
  const end = packets?.cut_at ?? begin + width;
  const steps = packets?.steps ?? [];
  useEffect(() => {
    setAt(placeOf(wanted.current, steps));
    wanted.current = "first";
  }, [packets]);

  const earlier = () => onFrom(Math.max(0, begin - width));
  const later = () => {
    if (end < run.end_s) onFrom(end);
  };
  const go = (to: number) => {
    if (to < 0) {
      if (begin <= 0) return;
      wanted.current = "last";
      earlier();
    } else if (to >= steps.length) {
      later();
    } else {
      setAt(to);
    }
  };
  // A loss among the steps that are shown, or else the time of the nearest one beyond them.
  const lossFrom = (sign: 1 | -1): number | Loss | undefined => {
    for (let i = at + sign; i >= 0 && i < steps.length; i += sign) {
      const step = steps[i];
      if (step !== undefined && isLoss(step.kind)) return i;
    }
    const t = sign > 0 ? packets?.next_loss_s : packets?.previous_loss_s;
    return t === undefined || t === null ? undefined : { t, sign };
  };
  const next = (sign: 1 | -1) => {
    const loss = lossFrom(sign);
    if (typeof loss === "number") setAt(loss);
    else if (loss !== undefined) {
      wanted.current = loss;
      onFrom(Math.max(0, loss.t - LEAD * width));
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const does: Record<string, () => void> = {
      ArrowRight: () => go(at + 1),
      ArrowLeft: () => go(at - 1),
      n: () => next(1),
      p: () => next(-1),
      PageDown: later,
      PageUp: earlier,
      Home: () => go(0),
      End: () => go(steps.length - 1),
    };
    const act = does[event.key];
    if (act === undefined) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };

  const step = steps[at];
  return (
    <section class="detail-steps" aria-label="Packet by packet">
      <div class="detail-bar">
        <h3>Packet by packet</h3>
        <label class="detail-choice">
          Show{" "}
          <select value={String(trips)} onChange={(event) => setTrips(Number(event.currentTarget.value))}>
            {WIDTHS.map((each) => (
              <option key={each} value={String(each)}>
                {each} RTT
              </option>
            ))}
          </select>
        </label>
        <Button size="small" onClick={earlier} disabled={begin <= 0}>
          Earlier
        </Button>
        <Button size="small" onClick={later} disabled={end >= run.end_s}>
          Later
        </Button>
      </div>
      {error !== undefined && <Failed error={error} />}
      {packets === undefined && error === undefined && <Loading>Repeating the run packet by packet …</Loading>}
      {packets !== undefined && (
        <div
          class={isStale ? "detail-stage is-stale" : "detail-stage"}
          tabIndex={0}
          role="group"
          data-keys
          aria-label="Steps. Left and right arrows go one step, N and P to the next and previous loss or retransmission, Page Up and Page Down to an earlier and later time."
          onKeyDown={onKeyDown}
        >
          <Diagram packets={packets} from={begin} to={end} at={at} onPick={setAt} />
          <Key />
        </div>
      )}
      {packets !== undefined && (
        <>
          <div class="detail-bar">
            <Button size="small" onClick={() => next(-1)} disabled={lossFrom(-1) === undefined}>
              Previous loss
            </Button>
            <Button size="small" onClick={() => go(at - 1)}>
              Back
            </Button>
            <Button size="small" kind="primary" onClick={() => go(at + 1)}>
              Step
            </Button>
            <Button size="small" onClick={() => next(1)} disabled={lossFrom(1) === undefined}>
              Next loss
            </Button>
            <span class="num muted">
              {steps.length === 0
                ? "nothing happens in this time"
                : `${(at + 1).toLocaleString("en-GB")} of ${counted(steps.length, "step")}`}
            </span>
          </div>
          <div class="detail-step" aria-live="polite">
            {step !== undefined && (
              <>
                <p>
                  <strong>{step.title}</strong> <span class="num">at {step.t.toFixed(6)} s</span>
                </p>
                <p>{step.text}</p>
                <p class="muted">
                  Afterwards: {step.phase}, window {digits(step.cwnd)} segments, {digits(step.flight)} in flight.
                </p>
              </>
            )}
          </div>
        </>
      )}
    </section>
  );
}

/** What the shapes are. */
function Key() {
  const items: [string, string, string][] = [
    ["sent", "M8 1V11", "sent"],
    ["resent", "M4 10L8 2L12 10Z", "retransmitted"],
    ["lost", "M4 2L12 10M4 10L12 2", "lost"],
    ["received", "M7 6h2", "arrives"],
    ["duplicate", "M5 6h6", "duplicate"],
    ["ack", "M1 6H15", "acknowledged"],
    ["window", "M1 6H15", "edge of the window"],
    ["timeout", "M8 0V12", "timeout"],
  ];
  return (
    <ul class="detail-key">
      {items.map(([kind, shape, words]) => (
        <li key={kind}>
          <svg width="16" height="12" aria-hidden="true">
            <path class={`detail-${kind}`} d={shape} />
          </svg>
          {words}
        </li>
      ))}
    </ul>
  );
}
