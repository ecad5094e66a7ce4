// The view "Sky": satellites as they move, the path between two places over a day, and a
// download over it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ViewProps } from "../../app/views";
import { address, change } from "../../lib/address";
import { ask } from "../../lib/api";
import { returns } from "../../lib/server";
import { useShortcuts } from "../../lib/shortcuts";
import { Button, Checkbox, Empty, Failed, Loading, messageOf, Note, Segmented, Select, toast } from "../../ui";
import { Ask, takeFile } from "./Ask";
import { DownloadPanel } from "./DownloadPanel";
import { FactsNow, Statistics } from "./Facts";
import { Onwards } from "./Onwards";
import type { Look, Painter } from "./paint/painter";
import { questionOf } from "./question";
import { SkyStage } from "./SkyStage";
import {
  camera,
  failure,
  fieldOf,
  file,
  isPlanning,
  isPlaying,
  leave,
  picking,
  plan,
  sky,
  time,
  zoomBy,
} from "./store";
import { Strips } from "./Strips";
import { TimeBar, toHandover, usePlaying } from "./TimeBar";
import type { Place } from "./types";
import { useShare } from "./share";

const KEYS = [
  { keys: ["Space"], does: "Play or pause" },
  { keys: ["N"], does: "Next handover" },
  { keys: ["P"], does: "Previous handover" },
  { keys: ["←", "→"], does: "Turn the globe while it has the focus" },
  { keys: ["+", "−"], does: "Zoom" },
];

export default function Sky({ params }: ViewProps) {
  const painter = useRef<Painter | undefined>(undefined);
  const [isOver, setOver] = useState(false);
  const question = questionOf(params, file.value);
  const asked = JSON.stringify(question);
  usePlaying();
  useShortcuts(KEYS);
  useKeys();
  useEffect(() => {
    if (question !== undefined) plan(question);
  }, [asked, returns.value]);
  useEffect(() => {
    restore();
    return leave;
  }, []);
  useFirstLook();
  useKeptTime();
  useShare(question, painter);
  const look: Omit<Look, "camera"> = {
    projection: params["_p"] === "map" ? "map" : "globe",
    caps: params["_caps"] === "all" ? "all" : params["_caps"] === "none" ? "none" : "used",
    links: params["_links"] !== "no",
    night: params["_night"] !== "no",
    labels: params["_names"] !== "no",
    isInertial: params["_frame"] === "inertial",
  };
  const error = failure.value;
  return (
    <div
      class={`view sky${isOver ? " sky-drop" : ""}`}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") !== true) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (event.relatedTarget === null) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const dropped = event.dataTransfer?.files[0];
        if (dropped !== undefined) void takeFile(dropped);
      }}
    >
      <h1 class="sr">Satellites, paths and handovers</h1>
      <div class="bench">
        <Ask params={params} />
        <div class="stack">
          {error !== undefined && fieldOf(error) === undefined && <Note kind="bad">{messageOf(error)}</Note>}
          {sky.value === undefined ? (
            <Waiting hasQuestion={question !== undefined} retry={() => question !== undefined && plan(question)} />
          ) : (
            <>
              <Choices look={look} />
              {picking.value !== undefined && (
                <Note>
                  Click the {look.projection === "globe" ? "globe" : "map"} to choose where data{" "}
                  {picking.value === "from" ? "comes from" : "goes to"}.
                </Note>
              )}
              <SkyStage look={look} painter={(made) => (painter.current = made)} onPick={pick} onRest={keepCamera} />
              <TimeBar />
              <FactsNow />
              <Strips />
              <Statistics />
              {question !== undefined && <DownloadPanel params={params} question={question} />}
              {question !== undefined && <Onwards question={question} />}
            </>
          )}
        </div>
      </div>
    </div>
  );
}

function Waiting({ hasQuestion, retry }: { hasQuestion: boolean; retry: () => void }) {
  if (failure.value !== undefined) return <Failed error={failure.value} onRetry={retry} />;
  if (hasQuestion || isPlanning.value) return <Loading>Computing the first hour …</Loading>;
  return <Empty title="No satellites yet">Drop a TLE or OMM file on the page, or open one in the panel.</Empty>;
}

/** What is shown, and how. */
function Choices({ look }: { look: Omit<Look, "camera"> }) {
  return (
    <div class="row sky-choices">
      <Segmented
        label="Projection"
        hideLabel
        value={look.projection}
        options={[
          { value: "globe", label: "Globe" },
          { value: "map", label: "Map" },
        ]}
        onValue={(value) => change({ _p: value === "globe" ? "" : value })}
      />
      <Segmented
        label="Reference frame"
        hideLabel
        value={look.isInertial ? "inertial" : "fixed"}
        options={[
          { value: "fixed", label: "Earth-fixed", title: "The picture rotates with the Earth" },
          {
            value: "inertial",
            label: "Inertial",
            title: "The orbital planes stay where they are, and the Earth rotates below them",
          },
        ]}
        onValue={(value) => change({ _frame: value === "fixed" ? "" : value })}
      />
      <Select
        inline
        label="Footprints"
        value={look.caps}
        options={[
          { value: "used", label: "In use" },
          { value: "all", label: "All satellites" },
          { value: "none", label: "None" },
        ]}
        onValue={(value) => change({ _caps: value === "used" ? "" : value })}
      />
      <Checkbox
        label="Inter-satellite links"
        checked={look.links}
        onChange={(on) => change({ _links: on ? "" : "no" })}
      />
      <Checkbox label="Night side" checked={look.night} onChange={(on) => change({ _night: on ? "" : "no" })} />
      <Checkbox label="Labels" checked={look.labels} onChange={(on) => change({ _names: on ? "" : "no" })} />
      <span class="spring" />
      <span class="sky-zoom">
        <Button kind="quiet" size="small" icon="minus" label="Zoom out" onClick={() => zoom(0.8, look.projection)} />
        <Button kind="quiet" size="small" icon="plus" label="Zoom in" onClick={() => zoom(1.25, look.projection)} />
        <Button kind="quiet" size="small" icon="reset" label="Centre on both places" onClick={lookAtFlow} />
      </span>
    </div>
  );
}

function zoom(factor: number, projection: Look["projection"]): void {
  zoomBy(factor, projection);
  keepCamera();
}

/** Turns the camera to the middle of the two places. */
function lookAtFlow(): void {
  const current = sky.peek();
  if (current === undefined) return;
  const [a, b] = current.ground;
  const middle = [a[0] + b[0], a[1] + b[1], a[2] + b[2]] as const;
  const length = Math.hypot(...middle);
  // Opposite places have no middle.
  const to = length < 1000 ? a : middle;
  const longitude = (Math.atan2(to[1], to[0]) * 180) / Math.PI;
  const latitude = (Math.atan2(to[2], Math.hypot(to[0], to[1])) * 180) / Math.PI;
  // A satellite that stands far above the equator is in the picture only from there.
  const slot = current.header.kind === "standing" ? current.header.places?.[0]?.[0] : undefined;
  camera.value =
    slot === undefined
      ? { longitude, latitude: latitude * 0.8, zoom: 1 }
      : { longitude: slot, latitude: Math.sign(latitude) * 7, zoom: 1 };
  keepCamera();
}

/** Looks at the flow when it is another one, unless the address says where to look. */
function useFirstLook(): void {
  const seen = useRef("");
  const current = sky.value;
  const ends = current === undefined ? "" : `${current.header.kind} ${current.ground.join(" ")}`;
  useEffect(() => {
    if (ends === "" || seen.current === ends) return;
    const isFirst = seen.current === "";
    seen.current = ends;
    if (!isFirst || address.peek().params["_at"] === undefined) lookAtFlow();
  }, [ends]);
}

/** Takes camera and time from the address. */
function restore(): void {
  const { params } = address.peek();
  const [longitude, latitude, zoomed] = (params["_at"] ?? "").split(",").map(Number);
  if (longitude !== undefined && latitude !== undefined && [longitude, latitude].every(Number.isFinite)) {
    camera.value = { longitude, latitude, zoom: zoomed !== undefined && zoomed > 0 ? zoomed : 1 };
  }
  const at = Number(params["_t"] ?? 0);
  if (Number.isFinite(at)) time.value = at;
}

let keeping: number | undefined;

/** Writes the camera into the address, when it rests. */
function keepCamera(): void {
  clearTimeout(keeping);
  keeping = window.setTimeout(() => {
    const { longitude, latitude, zoom: zoomed } = camera.peek();
    if (address.peek().view === "sky")
      change({ _at: `${longitude.toFixed(1)},${latitude.toFixed(1)},${zoomed.toFixed(2)}` });
  }, 400);
}

/** Writes the time into the address, when it rests. */
function useKeptTime(): void {
  useEffect(() => {
    let timer = 0;
    const stop = time.subscribe(() => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        if (isPlaying.peek() || address.peek().view !== "sky" || sky.peek() === undefined) return;
        const at = time.peek();
        change({ _t: at === 0 ? "" : String(Math.round(at * 1000) / 1000) });
      }, 500);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
}

/** Keys of the view, wherever the focus is not in a field. */
function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
      const target = event.target;
      if (
        target instanceof HTMLElement &&
        target.closest(
          "input:not([type=range], [type=radio], [type=checkbox]), select, textarea, [role=listbox], dialog",
        ) !== null
      )
        return;
      const isButton =
        target instanceof HTMLElement && target.closest("button, a, summary, input:not([type=range])") !== null;
      if (event.key === " " && !isButton) isPlaying.value = !isPlaying.peek();
      else if (event.key === "n") toHandover(1);
      else if (event.key === "p") toHandover(-1);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** Takes the place that was clicked. */
function pick(longitude: number, latitude: number, withinKm: number): void {
  const which = picking.peek();
  if (which === undefined) return;
  picking.value = undefined;
  ask<{ places: Place[] }>("/api/sky/places", { longitude, latitude, within_km: withinKm }).then(
    ({ places: [place] }) => {
      if (place !== undefined) change({ [which]: place.text }, false);
    },
    (error: unknown) => toast(messageOf(error), "bad"),
  );
}
