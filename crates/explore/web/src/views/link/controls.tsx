// One option of the question as a control: the value with its unit, a slider, the help of
// the command, and the server's words where it does not understand.
import { useState } from "preact/hooks";
import { Button, Select, Slider, TextField } from "../../ui";
import type { OptionName } from "../../lib/options";
import { BURST, join, LOSS, reading, type SliderField, split, written } from "./fields";
import { helpOf, options } from "./hello";
import { draft, set } from "./question";
import type { Run } from "./run";

/** The error of an option, if it is the one to blame. */
export function errorOf(run: Run, name: OptionName): string | undefined {
  const failure = run.failure.value;
  return failure?.option === name ? failure.message : undefined;
}

/** Returns the option to its default; nothing where it has it. */
function Default({ name, label }: { name: OptionName; label: string }) {
  if (draft.value[name] === undefined) return null;
  return (
    <Button
      kind="quiet"
      size="small"
      icon="reset"
      label={`${label}: default`}
      class="link-default"
      onClick={() => set({ [name]: "" }, true)}
    />
  );
}

/**
 * Text of a field: what is being typed, what is asked, or the default. Typing the default
 * asks for the default.
 */
function useText(name: OptionName, usual: string) {
  const [typed, type] = useState<string | undefined>(undefined);
  const asked = draft.value[name] ?? "";
  const text = typed ?? (asked === "" ? usual : asked);
  const change = (to: string, isDone: boolean) => {
    type(isDone ? undefined : to);
    // What the server read is the default only while nothing else is asked.
    set({ [name]: asked === "" && to === usual ? "" : to.trim() }, isDone);
  };
  return { text, change };
}

/** The default as the help says it: that of the option, or what holds unless others are set. */
function promised(name: OptionName): string {
  return (
    options.value.get(name)?.default ?? /\[default: ([^,;\]]*)/.exec(options.value.get(name)?.help ?? "")?.[1] ?? ""
  );
}

/** What a slider wrote, by its text: the thumb does not wait for the server. */
const numbers = new Map<string, number>();

function write(field: SliderField, value: number): string {
  const text = written(field, options.value.get(field.name)?.kind, value);
  numbers.set(`${field.name} ${text}`, value);
  return text;
}

/** Where a slider begins and ends; any decade until the server has said it. */
function bounds(name: OptionName): { min: number; max: number } {
  const [min, max] = options.value.get(name)?.slider ?? [1, 10];
  return { min, max };
}

export interface OptionProps {
  readonly run: Run;
  readonly disabled?: boolean;
}

/** A number with a unit. */
export function Quantity({ field, run, disabled }: OptionProps & { field: SliderField }) {
  const { name } = field;
  const begun = run.begun.value;
  const usual = begun === null ? promised(name) : usually(field, field.read(begun.begin));
  const { text, change } = useText(name, usual);
  const asked = draft.value[name] ?? "";
  const read = (of: string) => numbers.get(`${name} ${of}`) ?? reading(begun, name, asked, field.read);
  return (
    <Slider
      label={field.label}
      help={helpOf(name)}
      error={errorOf(run, name)}
      text={text}
      onText={change}
      read={read}
      write={(value) => write(field, value)}
      {...bounds(name)}
      scale="log"
      zero={field.zero === true}
      disabled={disabled}
      aside={<Default name={name} label={field.label} />}
    />
  );
}

/** The text of a default, which the slider could have written. */
function usually(field: SliderField, value: number | undefined): string {
  return value === undefined ? "" : write(field, value);
}

/** What the channel loses: the share, and how many in a row. */
export function Losses({ run }: OptionProps) {
  const begun = run.begun.value;
  const { text, change } = useText("loss", begun === null ? promised("loss") : usually(LOSS, LOSS.read(begun.begin)));
  const asked = draft.value["loss"] ?? "";
  const [share, burst] = split(text);
  const read = (field: SliderField, of: string) =>
    numbers.get(`loss ${of}`) ?? reading(begun, "loss", asked, field.read);
  return (
    <>
      <Slider
        label="Loss"
        class={burst === "" ? undefined : "link-wide"}
        help={helpOf("loss")}
        error={errorOf(run, "loss")}
        text={text}
        onText={(to, isDone) => change(numbers.has(`loss ${to}`) ? join(to, burst) : to, isDone)}
        read={() => read(LOSS, share)}
        write={(value) => write(LOSS, value)}
        {...bounds("loss")}
        scale="log"
        zero
        aside={<Default name="loss" label="Loss" />}
      />
      <Slider
        label={BURST.label}
        text={burst === "" ? "1 packet" : burst}
        onText={(to, isDone) => change(join(share, to.startsWith("1 packet") ? "" : to), isDone)}
        read={() => (burst === "" ? 1 : read(BURST, burst))}
        write={(value) => write(BURST, value)}
        min={1}
        max={100}
        scale="log"
        disabled={share === "0%" || share === ""}
      />
    </>
  );
}

/** Text, with suggestions where the server has them. */
export function Text({
  name,
  label,
  run,
  placeholder,
  isWide,
}: OptionProps & { name: OptionName; label: string; placeholder?: string | undefined; isWide?: boolean }) {
  const option = options.value.get(name);
  const { text, change } = useText(name, "");
  // A name from the list would replace a whole list of names.
  const names = text.includes(",") ? [] : (option?.choices ?? []);
  const usual = promised(name);
  return (
    <TextField
      label={label}
      class={isWide === true ? "link-wide" : undefined}
      help={helpOf(name)}
      error={errorOf(run, name)}
      value={text}
      onValue={change}
      placeholder={placeholder ?? (usual === "" ? undefined : usual)}
      suggestions={names.length === 0 ? undefined : names.map((choice) => choice.value)}
      aside={<Default name={name} label={label} />}
    />
  );
}

/** One of a few. */
export function Choice({ name, label, run }: OptionProps & { name: OptionName; label: string }) {
  const option = options.value.get(name);
  const choices = option?.choices ?? [];
  const usual = promised(name);
  return (
    <Select
      label={label}
      help={helpOf(name)}
      error={errorOf(run, name)}
      value={draft.value[name] ?? usual}
      options={choices.map(({ value }) => value)}
      note={choices.find(({ value }) => value === (draft.value[name] ?? usual))?.about}
      onValue={(value) => set({ [name]: value === usual ? "" : value }, true)}
    />
  );
}
