// A slider with its value as text beside it: drag, step with keys, or type with a unit.
import { Field, words, type FieldWords } from "./Field";

export interface SliderProps extends FieldWords {
  /** The value as text with its unit; this is the truth, the slider follows it. */
  text: string;
  /** With every key and movement (`isFinal` false), and when one lets go or leaves (true). */
  onText: (text: string, isFinal: boolean) => void;
  /** The number of a text; undefined if it has none on this scale. */
  read: (text: string) => number | undefined;
  /** The text of a number. */
  write: (value: number) => string;
  min: number;
  max: number;
  /** Default linear. A logarithmic scale needs a `min` above zero, or `zero`. */
  scale?: "linear" | "log";
  /** A logarithmic scale whose left end is zero. */
  zero?: boolean;
  /** Of a linear scale; a logarithmic one steps through two digits. */
  step?: number | undefined;
  /** Values that are marked below the slider. */
  ticks?: readonly { at: number; label: string }[] | undefined;
  placeholder?: string | undefined;
  suggestions?: readonly string[] | undefined;
  disabled?: boolean | undefined;
}

/** Positions of a slider on a logarithmic scale. */
const STEPS = 400;

/** A text field with a slider below it. */
export function Slider(props: SliderProps) {
  const { text, onText, read, write } = props;
  const scale = scaleOf(props);
  const value = read(text);
  const at = value === undefined ? scale.least : scale.position(value);
  const move = (input: HTMLInputElement, isFinal: boolean) => {
    let to = Number(input.value);
    let next = write(scale.value(to));
    // A step of a key changes the value, also where several places have the same text.
    const step = Math.sign(to - at) * scale.step;
    while (step !== 0 && next === text && to + step >= scale.least && to + step <= scale.most) {
      to += step;
      next = write(scale.value(to));
    }
    onText(next, isFinal);
  };
  const share = (position: number) => ((position - scale.least) / (scale.most - scale.least)) * 100;
  return (
    <Field
      {...words(props)}
      after={
        <div>
          <input
            class="slider"
            type="range"
            aria-label={props.label}
            aria-valuetext={text === "" ? (props.placeholder ?? "") : text}
            min={scale.least}
            max={scale.most}
            step={scale.step}
            value={at}
            disabled={props.disabled}
            style={{ "--at": share(at) }}
            onInput={(event) => move(event.currentTarget, false)}
            onChange={(event) => move(event.currentTarget, true)}
          />
          {props.ticks !== undefined && (
            <div class="slider-ticks" aria-hidden="true">
              {props.ticks.map((tick) => (
                <span key={tick.label} style={{ left: `${share(scale.position(tick.at))}%` }}>
                  {tick.label}
                </span>
              ))}
            </div>
          )}
        </div>
      }
    >
      {(aria) => (
        <input
          {...aria}
          class="input"
          type="text"
          value={text}
          placeholder={props.placeholder}
          disabled={props.disabled}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onText(event.currentTarget.value, false)}
          onChange={(event) => onText(event.currentTarget.value, true)}
          onKeyDown={(event) => {
            // Up and down step the value without leaving the text.
            const way = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
            if (way === 0 || value === undefined) return;
            event.preventDefault();
            const jump = (scale.most - scale.least) / (event.shiftKey ? 10 : 50);
            onText(
              write(scale.value(Math.max(scale.least, Math.min(scale.most, at + way * Math.max(jump, scale.step))))),
              true,
            );
          }}
        />
      )}
    </Field>
  );
}

interface Scale {
  least: number;
  most: number;
  step: number;
  position: (value: number) => number;
  value: (position: number) => number;
}

function scaleOf({ min, max, scale = "linear", zero = false, step }: SliderProps): Scale {
  if (scale === "linear") {
    const by = step ?? (max - min) / 100;
    return {
      least: min,
      most: max,
      step: by,
      position: (value) => Math.max(min, Math.min(max, value)),
      value: (position) => position,
    };
  }
  const from = Math.log(min);
  const wide = Math.log(max) - from;
  // With `zero` there is one position more, below the least value.
  return {
    least: zero ? -1 : 0,
    most: STEPS,
    step: 1,
    position: (value) => {
      if (value <= 0) return zero ? -1 : 0;
      return Math.max(0, Math.min(STEPS, Math.round(((Math.log(value) - from) / wide) * STEPS)));
    },
    value: (position) => (position < 0 ? 0 : Number(Math.exp(from + (position / STEPS) * wide).toPrecision(2))),
  };
}
