// The question: the link, its users, and what is compared.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { href } from "../../lib/address";
import { hello } from "../../lib/hello";
import type { OptionGroup, OptionHelp, OptionName } from "../../lib/options";
import { Checkbox, Field, Select } from "../../ui";
import { Choice, errorOf, Losses, Quantity, Text } from "./controls";
import { QUEUE, RATE, RETURN_RATE, RTT, SERVER_RTT, SIZE, USERS } from "./fields";
import { helpOf, options } from "./hello";
import { draft, set } from "./question";
import { PlaceText } from "./PlaceText";
import type { Run } from "./run";

/** Two cities, until others are chosen: an orbit needs both. */
const PLACES = { from: "London", to: "Nairobi" };

/** Times over which runs may begin. */
const SPANS = ["1 h", "6 h", "12 h", "24 h", "48 h"];

/** A round-trip time, or satellites between two places. */
function Way({ run }: { run: Run }) {
  const question = draft.value;
  const orbit = question["orbit"];
  const option = options.value.get("orbit");
  const choices = option?.choices ?? [];
  const known = choices.map(({ value, about }) => ({ value, label: about === "" ? value : about }));
  const other =
    orbit !== undefined && !choices.some(({ value }) => value === orbit) ? [{ value: orbit, label: orbit }] : [];
  const choose = (value: string) =>
    set(
      value === ""
        ? { orbit: "", from: "", to: "", over: "", slot: "" }
        : {
            orbit: value,
            rtt: "",
            fade: "",
            modcod: "",
            margin: "",
            coding: "",
            from: question["from"] ?? PLACES.from,
            to: question["to"] ?? PLACES.to,
            ...(value === "geo" ? {} : { slot: "" }),
          },
      true,
    );
  return (
    <>
      <Select
        label="Path"
        class="link-wide"
        help={helpOf("orbit")}
        error={errorOf(run, "orbit")}
        value={orbit ?? ""}
        options={[{ value: "", label: "Fixed round-trip time" }, ...known, ...other]}
        onValue={choose}
      />
      {orbit === undefined ? (
        <Quantity field={RTT} run={run} />
      ) : (
        <>
          <div class="link-pair">
            <PlaceText name="from" label="Server in" run={run} />
            <PlaceText name="to" label="Users in" run={run} />
          </div>
          <a
            class="link-more"
            href={href("sky", {
              orbit,
              from: question["from"] ?? "",
              to: question["to"] ?? "",
              slot: question["slot"] ?? "",
            })}
          >
            Show this path in Sky
          </a>
          {orbit === "geo" && <Text name="slot" label="Longitude of the satellite" run={run} placeholder="Midway" />}
          <Select
            label="Start times within"
            class="link-wide"
            help={helpOf("over")}
            error={errorOf(run, "over")}
            value={question["over"] ?? ""}
            options={[
              { value: "", label: "One hour, without curves" },
              ...[...new Set([...SPANS, question["over"] ?? SPANS[0] ?? ""])],
            ]}
            onValue={(value) => set({ over: value }, true)}
          />
        </>
      )}
    </>
  );
}

/** Stands for shares of the users, and shares to begin with. */
const MIX = "mix";
const BUSY_HOUR = "web 60%,video 30%,download 10%";

/** The proxies that are compared, each with each transport. */
function Proxies({ run }: { run: Run }) {
  const option = options.value.get("pep");
  const usual = option?.default ?? "none";
  const chosen = (draft.value["pep"] ?? usual).split(",").map((name) => name.trim());
  const choices = option?.choices ?? [];
  const toggle = (name: string, isOn: boolean) => {
    const next = choices.map(({ value }) => value).filter((value) => (value === name ? isOn : chosen.includes(value)));
    // One remains: nothing to compare is no question.
    if (next.length > 0) set({ pep: next.join(",") === usual ? "" : next.join(",") }, true);
  };
  return (
    <Field label="Proxies" help={helpOf("pep")} error={errorOf(run, "pep")} box={false}>
      {(aria) => (
        <div class="link-checks" role="group" aria-label="Proxies" {...aria}>
          {choices.map(({ value, about }) => (
            <Checkbox
              key={value}
              label={value}
              help={about}
              checked={chosen.includes(value)}
              onChange={(isOn) => toggle(value, isOn)}
            />
          ))}
        </div>
      )}
    </Field>
  );
}

/** The queue as a slider; a discipline, or several queues, as text. */
function Queues({ run }: { run: Run }) {
  const text = draft.value["queue"] ?? "";
  const names = options.value.get("queue")?.choices ?? [];
  const isText = text.includes(",") || names.some(({ value }) => text.startsWith(value));
  const today = text === "" ? (options.value.get("queue")?.default ?? "1 BDP") : text;
  const all = [today, ...names.map(({ value }) => value)].join(",");
  return (
    <>
      {isText ? <Text name="queue" label="Queues" run={run} isWide /> : <Quantity field={QUEUE} run={run} />}
      {!isText && names.length > 0 && (
        <button type="button" class="link-more" onClick={() => set({ queue: all }, true)}>
          Compare with {names.map(({ value }) => value).join(", ")}
        </button>
      )}
    </>
  );
}

/** A kind of traffic, or shares of the users as text. */
function Traffic({ run }: { run: Run }) {
  const option = options.value.get("traffic");
  const usual = option?.default ?? "download";
  const value = draft.value["traffic"] ?? usual;
  const isMix = value.includes("%");
  const choices = (option?.choices ?? []).map((choice) => choice.value);
  const choose = (to: string) => set({ traffic: to === MIX ? BUSY_HOUR : to === usual ? "" : to }, true);
  return (
    <>
      <Select
        label="Traffic"
        help={helpOf("traffic")}
        error={isMix ? undefined : errorOf(run, "traffic")}
        value={isMix ? MIX : value}
        options={[...choices, { value: MIX, label: "a mix in per cent" }]}
        onValue={choose}
      />
      {isMix && <Text name="traffic" label="Mix" run={run} isWide />}
    </>
  );
}

/** Users as a slider; several numbers as text. */
function Users({ run }: { run: Run }) {
  const several = (draft.value["users"] ?? "").includes(",");
  return (
    <>
      {several ? <Text name="users" label="Numbers of users" run={run} isWide /> : <Quantity field={USERS} run={run} />}
      {!several && (
        <button type="button" class="link-more" onClick={() => set({ users: "1,5,20" }, true)}>
          Compare 1, 5 and 20 users
        </button>
      )}
    </>
  );
}

/** Adds a size ten times as large, to see where the advice changes. */
function Sizes({ run }: { run: Run }) {
  const sizes = run.begun.value?.begin.sizes ?? [];
  const traffic = draft.value["traffic"] ?? "download";
  if (traffic === "video") return null;
  const several = (draft.value["size"] ?? "").includes(",");
  return (
    <>
      {several ? <Text name="size" label="Sizes" run={run} isWide /> : <Quantity field={SIZE} run={run} />}
      {!several && sizes.length === 1 && (
        <button type="button" class="link-more" onClick={() => set({ size: "100 kB,1 MB,10 MB,100 MB" }, true)}>
          Compare sizes from 100 kB to 100 MB
        </button>
      )}
    </>
  );
}

/** How fast starts follow each other, where there are several users. */
function spread(run: Run): string | undefined {
  const begin = run.begun.value?.begin;
  return begin === undefined || begin.users < 2 ? undefined : `${Number(begin.stagger_s.toPrecision(3))} s`;
}

/** A fade to begin with. */
const RAIN = "10 dB for 30 s";

/** What belongs to a fade, and makes sense with one only. */
const MODEM = ["modcod", "margin", "coding"] as const;

/** Rain over the terminal; satellites of a shell change in their own way. */
function Fade({ run }: { run: Run }) {
  const question = draft.value;
  const isAsked = ["fade", ...MODEM].some((name) => question[name] !== undefined);
  if (question["orbit"] !== undefined && !isAsked) return null;
  return (
    <details class="link-rest" open={isAsked}>
      <summary>Rain fade</summary>
      <Text name="fade" label="Fade" run={run} isWide placeholder="none" />
      {isAsked ? (
        <>
          <Choice name="modcod" label="ModCod" run={run} />
          <Text name="margin" label="Margin" run={run} />
          <Choice name="coding" label="Coding" run={run} />
        </>
      ) : (
        <button type="button" class="link-more" onClick={() => set({ fade: RAIN }, true)}>
          {RAIN}
        </button>
      )}
    </details>
  );
}

/** Options that have a place of their own; a trace comes by the address of a page. */
const PLACED: ReadonlySet<OptionName> = new Set<OptionName>([
  ...(["rate", "rtt", "orbit", "from", "to", "trace", "over", "slot", "loss", "queue", "return-rate"] as const),
  ...(["fade", ...MODEM] as const),
  ...(["users", "traffic", "size", "stagger", "beside", "background"] as const),
  ...(["transport", "hosts", "pep", "server-rtt", "runs", "time", "robust", "seed"] as const),
]);

/** The other options of a group, by what the server says of them. */
function Others({ group, run }: { group: OptionGroup; run: Run }) {
  // A file is one of the folder that was opened.
  const canBe = ({ name, kind }: OptionHelp) =>
    kind !== "file" || hello.value?.open != null || draft.value[name] !== undefined;
  const others = [...options.value.values()].filter(
    (option) => option.group === group && !PLACED.has(option.name) && canBe(option),
  );
  return (
    <>
      {others.map(({ name, kind, several }) => {
        const label = name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");
        const Control = (kind === "choice" || kind === "flag") && !several ? Choice : Text;
        return <Control key={name} name={name} label={label} run={run} />;
      })}
    </>
  );
}

/** Where the question stands beside the answer. */
export const WIDE = "(min-width: 60rem)";

/** A part of the question; on a phone all parts are folded, so that the answer is in sight. */
function Group({
  title,
  of,
  run,
  children,
}: {
  title: string;
  of: OptionGroup;
  run: Run;
  children: ComponentChildren;
}) {
  const isWide = useMemo(() => matchMedia(WIDE).matches, []);
  return (
    <details class="link-group" open={isWide}>
      <summary>
        <h2>{title}</h2>
      </summary>
      <div class="link-fields">
        {children}
        <Others group={of} run={run} />
      </div>
    </details>
  );
}

export function Panel({ run }: { run: Run }) {
  const hasProxy = /split|snoop|gateway/.test(draft.value["pep"] ?? "");
  return (
    <form class="link-form" aria-label="The question" onSubmit={(event) => event.preventDefault()}>
      <Group title="Link" of="link" run={run}>
        <Quantity field={RATE} run={run} />
        <Way run={run} />
        <Losses run={run} />
        <Queues run={run} />
        <details class="link-rest">
          <summary>Return link</summary>
          <Quantity field={RETURN_RATE} run={run} />
        </details>
        <Fade run={run} />
      </Group>
      <Group title="Users" of="users" run={run}>
        <Traffic run={run} />
        <Users run={run} />
        <Sizes run={run} />
        <details
          class="link-rest"
          open={["beside", "background", "stagger"].some((name) => draft.value[name] !== undefined)}
        >
          <summary>Others on the link</summary>
          <Text name="beside" label="Half of the users run" run={run} placeholder="what is compared" />
          <Text name="background" label="Other traffic" run={run} placeholder="none" />
          <Text name="stagger" label="Starts spread over" run={run} placeholder={spread(run)} />
        </details>
      </Group>
      <Group title="Comparison" of="comparison" run={run}>
        <Proxies run={run} />
        {hasProxy && <Quantity field={SERVER_RTT} run={run} />}
        <Text name="transport" label="Transports" run={run} isWide placeholder="a selection" />
        <Choice name="robust" label="Robustness" run={run} />
        <details
          class="link-rest"
          open={["hosts", "runs", "time", "seed"].some((name) => draft.value[name] !== undefined)}
        >
          <summary>Hosts and runs</summary>
          <Choice name="hosts" label="Hosts" run={run} />
          <Text name="runs" label="Runs of each" run={run} placeholder="as many as the decision needs" />
          <Text name="time" label="Time to look" run={run} placeholder="5 s" />
          <Text name="seed" label="Seed" run={run} />
        </details>
      </Group>
    </form>
  );
}
