// What is asked: satellites, two places, how long, and what terminals do.
import { useRef } from "preact/hooks";
import { change, type Params } from "../../lib/address";
import { Button, messageOf, Note, Select, TextOnLeave, toast } from "../../ui";
import { PlaceField } from "./PlaceField";
import { DEFAULTS, ORBITS } from "./question";
import { failure, fieldOf, file, sky } from "./store";

/** Bytes of a file, at most: what the server takes of a request, with room for the rest. */
const MOST_BYTES = 3_500_000;

/** Takes a file of orbital elements, and shows its satellites. */
export async function takeFile(given: File): Promise<void> {
  if (given.size > MOST_BYTES) {
    toast(`${given.name} has ${(given.size / 1e6).toFixed(1)} MB; at most ${MOST_BYTES / 1e6} MB are read`, "bad");
    return;
  }
  file.value = { name: given.name, text: await given.text() };
  change({ orbit: "file", _t: "" }, false);
}

export function Ask({ params }: { params: Params }) {
  const orbit = params["orbit"] ?? DEFAULTS.orbit;
  const chooser = useRef<HTMLInputElement>(null);
  const error = failure.value;
  const field = fieldOf(error);
  const wrong = (name: string) => (field === name ? messageOf(error) : undefined);
  const set = (name: string, value: string, standard = "") =>
    change({ [name]: value === standard ? "" : value, _t: "" }, false);
  const header = sky.value?.header;
  return (
    <section class="stack sky-ask" aria-label="Satellites and places">
      <Select
        label="Satellites"
        value={orbit}
        options={ORBITS}
        error={wrong("orbit")}
        onValue={(value) => {
          change(
            { orbit: value === DEFAULTS.orbit ? "" : value, isl: "", mask: "", slot: "", handover: "", _t: "" },
            false,
          );
          if (value === "file" && file.peek() === undefined) chooser.current?.click();
        }}
      />
      {orbit === "file" && (
        <div class="sky-file">
          <span>
            {file.value === undefined ? "No file yet: drop one on the page, or choose one." : file.value.name}
          </span>
          {field === "file" && <Note kind="bad">{messageOf(error)}</Note>}
        </div>
      )}
      <Button icon="open" size="small" onClick={() => chooser.current?.click()}>
        Open a TLE or OMM file
      </Button>
      <input
        ref={chooser}
        class="sr"
        type="file"
        tabIndex={-1}
        aria-label="TLE or OMM file"
        accept=".tle,.txt,.json,.csv,.xml,.kvn,.omm,.2le,.3le"
        onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          event.currentTarget.value = "";
          if (chosen !== undefined) void takeFile(chosen);
        }}
      />
      {orbit === "geo" && (
        <TextOnLeave
          label="Orbital slot"
          unit="° E"
          value={params["slot"] ?? ""}
          placeholder="Midway"
          error={wrong("slot")}
          help="Longitude of the satellite, degrees east (negative: west); midway between the two places unless it is given."
          onValue={(value) => set("slot", value)}
        />
      )}
      {orbit === "walker" && (
        <>
          <TextOnLeave
            label="Walker pattern"
            value={params["pattern"] ?? DEFAULTS.pattern}
            error={wrong("pattern")}
            help="Walker notation: INCLINATION: SATELLITES/PLANES/PHASING."
            onValue={(value) => set("pattern", value, DEFAULTS.pattern)}
          />
          <TextOnLeave
            label="Altitude"
            unit="km"
            value={params["altitude"] ?? DEFAULTS.altitude}
            onValue={(value) => set("altitude", value, DEFAULTS.altitude)}
          />
          <Select
            label="Ascending nodes"
            value={params["shape"] ?? DEFAULTS.shape}
            options={[
              { value: "delta", label: "Over 360° (Walker delta)" },
              { value: "star", label: "Over 180° (Walker star, with a seam)" },
            ]}
            onValue={(value) => set("shape", value, DEFAULTS.shape)}
          />
        </>
      )}
      <PlaceField
        label="From"
        which="from"
        value={params["from"] ?? DEFAULTS.from}
        error={wrong("from")}
        onValue={(value) => set("from", value, DEFAULTS.from)}
      />
      <PlaceField
        label="To"
        which="to"
        value={params["to"] ?? DEFAULTS.to}
        error={wrong("to")}
        onValue={(value) => set("to", value, DEFAULTS.to)}
      />
      <div class="row">
        <Button
          size="small"
          icon="reset"
          onClick={() => change({ from: params["to"] ?? DEFAULTS.to, to: params["from"] ?? DEFAULTS.from }, false)}
        >
          Swap
        </Button>
      </div>
      <Select
        label="Duration"
        value={params["hours"] ?? DEFAULTS.hours}
        options={["1", "6", "12", "24", "48"].map((value) => ({
          value,
          label: value === "1" ? "1 hour" : `${value} hours`,
        }))}
        error={wrong("hours")}
        onValue={(value) => set("hours", value, DEFAULTS.hours)}
      />
      {orbit !== "geo" && (
        <details class="sky-more" open={["mask", "handover", "isl"].some((name) => params[name] !== undefined)}>
          <summary>Terminals and links</summary>
          <div class="stack">
            <TextOnLeave
              label="Minimum elevation"
              unit="°"
              value={params["mask"] ?? ""}
              placeholder={header === undefined ? "" : String(header.mask_deg[0] ?? "")}
              error={wrong("mask")}
              help="Terminals use only satellites above this elevation (the elevation mask)."
              onValue={(value) => set("mask", value)}
            />
            <Select
              label="Satellite selection"
              value={params["handover"] ?? DEFAULTS.handover}
              options={[
                { value: "keep", label: "Keep until below the minimum elevation" },
                { value: "highest", label: "Highest elevation" },
                { value: "longest", label: "Longest remaining visibility" },
              ]}
              onValue={(value) => set("handover", value, DEFAULTS.handover)}
            />
            <Select
              label="Inter-satellite links"
              value={params["isl"] ?? "yes"}
              options={[
                { value: "yes", label: "As the constellation has them" },
                { value: "no", label: "None (bent pipe)" },
              ]}
              onValue={(value) => set("isl", value, "yes")}
            />
          </div>
        </details>
      )}
      {header?.notes.map((note) => (
        <Note key={note}>{note}</Note>
      ))}
    </section>
  );
}
