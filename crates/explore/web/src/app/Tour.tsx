// A tour of one minute: steps beside what they are about, in a popover that does not block
// the page. The header offers it until it was taken once; after that the menu Help does.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { address, go } from "../lib/address";
import { Button } from "../ui/Button";
import { placeBeside } from "../ui/place";

interface Step {
  view: string;
  /** Selects what the step is about; without it, or where it is not there, the corner. */
  at: string;
  title: string;
  text: string;
}

const STEPS: readonly Step[] = [
  {
    view: "link",
    at: ".frame-views a:nth-child(1)",
    title: "Which transport for this link?",
    text: "The Link view answers that. It opens with a broadband terminal under a geostationary satellite and one user who downloads a file.",
  },
  {
    view: "link",
    at: ".link-left",
    title: "Set your link",
    text: "Drag a slider or type a value with its unit. Each “?” says what the option means; F1 does in a field. Each change starts new runs and stops the old ones.",
  },
  {
    view: "link",
    at: ".link-verdict",
    title: "Read the answer",
    text: "The verdict says what to switch on, what it gains, and whom it hurts. The ranking below becomes more certain as runs are added. Choose a row to see how that transport behaved.",
  },
  {
    view: "scenario",
    at: ".frame-views a:nth-child(2)",
    title: "Any network, as text and picture",
    text: "A scenario is a file. The editor completes keys, explains them, and marks errors; the network is drawn beside it, and both can be changed.",
  },
  {
    view: "sky",
    at: ".frame-views a:nth-child(3)",
    title: "Satellites that move",
    text: "Choose a constellation and two cities. Play or drag the time, and see the path, its delay, and what a handover does to a download.",
  },
  {
    view: "studies",
    at: ".frame-views a:nth-child(4)",
    title: "A million runs",
    text: "Open a folder of results, filter the runs, and redraw each figure with other axes.",
  },
  {
    view: "papers",
    at: ".frame-views a:nth-child(5)",
    title: "Compared with the papers",
    text: "The printed tables beside the results of the simulator, differences shown by colour, and the claims with their evidence.",
  },
  {
    view: "link",
    at: ".frame-share",
    title: "Take it with you",
    text: "Share copies what you see as a link, a command, Python or a scenario, and saves pictures, numbers and a report. Press ? for all keys.",
  },
];

const KEY = "bentpipe.tour";

export interface TourState {
  step: number | undefined;
  /** True if it was taken or ended here before. */
  isSeen: boolean;
  setStep: (step: number | undefined) => void;
  start: () => void;
}

/** The state of the tour. */
export function useTour(): TourState {
  const [step, setStep] = useState<number>();
  const [isSeen, setSeen] = useState(() => localStorage.getItem(KEY) !== null);
  const origin = useRef(address.value);
  const start = useCallback(() => {
    origin.current = address.value;
    setStep(0);
  }, []);
  const set = useCallback((to: number | undefined) => {
    if (to === undefined || to >= STEPS.length) {
      localStorage.setItem(KEY, "seen");
      setSeen(true);
      setStep(undefined);
      go(origin.current.view, origin.current.params);
    } else setStep(Math.max(0, to));
  }, []);
  return { step, isSeen, setStep: set, start };
}

export function Tour({ step: index, setStep }: TourState) {
  const box = useRef<HTMLDivElement>(null);
  const next = useRef<HTMLButtonElement>(null);
  const step = index === undefined ? undefined : STEPS[index];
  useEffect(() => {
    if (step === undefined) return;
    if (address.value.view !== step.view) go(step.view, {}, true);
    box.current?.showPopover();
    next.current?.focus({ preventScroll: true });
    let target: Element | undefined;
    const put = () => {
      const found = target?.isConnected === true ? target : (document.querySelector(step.at) ?? undefined);
      if (found !== target) {
        target?.classList.remove("tour-target");
        found?.classList.add("tour-target");
        target = found;
      }
      if (box.current !== null && found !== undefined) placeBeside(box.current, found);
    };
    put();
    // A view that has yet to load is there soon.
    const timer = setInterval(put, 250);
    addEventListener("resize", put);
    return () => {
      clearInterval(timer);
      removeEventListener("resize", put);
      target?.classList.remove("tour-target");
    };
  }, [step]);
  if (step === undefined || index === undefined) return null;
  const isLast = index === STEPS.length - 1;
  return (
    <div
      ref={box}
      class="tour"
      popover="manual"
      role="dialog"
      aria-labelledby="tour-title"
      aria-describedby="tour-text"
      data-keys="tour"
      onKeyDown={(event) => {
        if (event.key === "Escape") setStep(undefined);
        else if (event.key === "ArrowRight") setStep(index + 1);
        else if (event.key === "ArrowLeft") setStep(index - 1);
      }}
    >
      <div class="tour-step">
        <div class="row row-between">
          <span class="eyebrow">
            {index + 1} of {STEPS.length}
          </span>
          <div class="tour-dots" aria-hidden="true">
            {STEPS.map((one, at) => (
              <span key={one.title} class={at <= index ? "is-past" : ""} />
            ))}
          </div>
        </div>
        <h2 id="tour-title">{step.title}</h2>
        <p id="tour-text">{step.text}</p>
        <div class="row">
          <Button kind="quiet" onClick={() => setStep(undefined)}>
            {isLast ? "Close" : "End the tour"}
          </Button>
          <span class="spring" />
          {index > 0 && <Button onClick={() => setStep(index - 1)}>Back</Button>}
          <Button kind="primary" buttonRef={next} onClick={() => setStep(index + 1)}>
            {isLast ? "Done" : "Next"}
          </Button>
        </div>
      </div>
    </div>
  );
}
