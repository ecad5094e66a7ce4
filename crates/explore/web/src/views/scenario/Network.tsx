// The network as a picture: chosen and edited by pointer and keyboard.
import { useRef, useState } from "preact/hooks";
import type { ScenarioDocument } from "./document";
import type { DrawnLink, DrawnNode, Drawing, Facts } from "./types";

interface NetworkProps {
  scenario: ScenarioDocument;
  drawing: Drawing;
  /** A link was drawn from one node to another. */
  onLink: (from: string, to: string) => void;
}

/** How far below its ends' middle a link runs that would cross other nodes. */
const BEND = 90;
const LINE = 14;
/** How far below a link flows are drawn, and how far apart. */
const BESIDE = 4.5;
const APART = 3.6;
/** Tables that are listed below the picture, at most. */
const MOST_OTHERS = 60;
const DASHES = ["", "7 3", "2 3", "10 3 2 3"];

/** A line from the middle of one node to that of another, `off` pixels below. */
function line(a: DrawnNode, b: DrawnNode, isBent: boolean, off: number): string {
  const [x1, y1, x2, y2] = [a.x, a.y + off, b.x, b.y + off].map((at) => Math.round(at * 10) / 10) as [
    number,
    number,
    number,
    number,
  ];
  if (!isBent) return `M${x1} ${y1}L${x2} ${y2}`;
  return `M${x1} ${y1}Q${(x1 + x2) / 2} ${(y1 + y2) / 2 + 2 * BEND} ${x2} ${y2}`;
}

/** Where the words of a link stand: the middle of the part between its boxes. */
function middle(a: DrawnNode, b: DrawnNode, link: DrawnLink, count: number): [number, number] {
  const towards = Math.sign(b.x - a.x);
  const x = (a.x + (towards * a.width) / 2 + b.x - (towards * b.width) / 2) / 2;
  const share = a.x === b.x ? 0.5 : (x - a.x) / (b.x - a.x);
  const y = a.y + (b.y - a.y) * share + (link.is_bent ? 4 * BEND * share * (1 - share) : 0);
  const isLevel = Math.abs(b.y - a.y) < 10;
  return [x, isLevel ? y - 8 - (count - 1) * LINE : y - ((count - 1) * LINE) / 2 + 4];
}

export function Network({ scenario, drawing, onLink }: NetworkProps) {
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<{ from: DrawnNode; x: number; y: number; isFar: boolean }>();
  const chosen = scenario.chosen.value;
  const isChosen = (...path: string[]) => chosen !== undefined && path.every((key, i) => key === chosen[i]);
  const choose = (...path: string[]) => {
    scenario.chosen.value = path;
    scenario.show(path);
  };
  const at = (event: PointerEvent): [number, number] => {
    const matrix = svg.current?.getScreenCTM();
    if (matrix === null || matrix === undefined) return [0, 0];
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    return [point.x, point.y];
  };
  const under = (x: number, y: number) =>
    drawing.nodes.find(
      (node) => Math.abs(node.x - x) < node.width / 2 + 4 && Math.abs(node.y - y) < node.height / 2 + 4,
    );
  const remove = (event: KeyboardEvent, group: string, name: string) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    event.preventDefault();
    void scenario.edit({ edit: "remove", group, name }).then((done) => {
      if (done) scenario.chosen.value = undefined;
    });
  };
  const press = (event: KeyboardEvent, group: string, name: string) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(group, name);
    } else remove(event, group, name);
  };

  const isBent = (a: number, b: number) =>
    drawing.links.some((link) => link.is_bent && link.ends.includes(a) && link.ends.includes(b));
  const facts = scenario.facts.value;
  return (
    <svg
      ref={svg}
      class="scenario-svg"
      viewBox={`0 0 ${Math.max(drawing.width, 240)} ${drawing.height}`}
      width={Math.max(drawing.width, 240)}
      height={drawing.height}
      role="group"
      aria-label={`The network: ${drawing.nodes.length} nodes, ${drawing.links.length} links, ${drawing.flows.length} flows`}
      onPointerMove={(event) => {
        if (drag === undefined) return;
        const [x, y] = at(event);
        setDrag({
          ...drag,
          x,
          y,
          isFar: drag.isFar || Math.hypot(x - drag.from.x, y - drag.from.y) > drag.from.width / 2 + 6,
        });
      }}
      onPointerUp={() => {
        if (drag === undefined) return;
        const to = under(drag.x, drag.y);
        if (drag.isFar && to !== undefined && to.name !== drag.from.name && !to.is_sky) onLink(drag.from.name, to.name);
        setDrag(undefined);
      }}
      onPointerLeave={() => setDrag(undefined)}
    >
      {drawing.links.map((link) => {
        const [a, b] = [drawing.nodes[link.ends[0]], drawing.nodes[link.ends[1]]];
        if (a === undefined || b === undefined) return null;
        const name = link.names[0];
        const path = line(a, b, link.is_bent, 0);
        const lines = link.lines.filter((text) => text !== "");
        const [x, y] = middle(a, b, link, lines.length);
        const classes = `scenario-link ${a.is_sky || b.is_sky ? "scenario-link-sky" : ""} ${link.names.some((name) => isChosen("link", name)) ? "is-chosen" : ""}`;
        if (name === undefined) return <path key={path} class={classes} d={path} />;
        return (
          <g
            key={link.names.join()}
            class={classes}
            role="button"
            tabindex={0}
            aria-pressed={link.names.some((name) => isChosen("link", name))}
            aria-label={`Link ${lines.join(", ")}, between ${a.name} and ${b.name}`}
            onClick={() => choose("link", next(link.names, chosen))}
            onKeyDown={(event) => press(event, "link", next(link.names, event.key === "Delete" ? undefined : chosen))}
          >
            <path class="scenario-hit" d={path} />
            <path class="scenario-line" d={path} />
            {lines.map((text, i) => (
              <text
                key={i}
                class={i === 0 ? "scenario-link-name" : "scenario-link-text"}
                x={x}
                y={y + i * LINE}
                text-anchor="middle"
              >
                {text}
              </text>
            ))}
          </g>
        );
      })}
      <Flows drawing={drawing} isBent={isBent} isChosen={(name) => isChosen("flow", name)} />
      {drag?.isFar === true && <path class="scenario-drawn" d={`M${drag.from.x} ${drag.from.y}L${drag.x} ${drag.y}`} />}
      {drawing.nodes.map((node) => (
        <g
          key={`${node.group}.${node.name}`}
          class={`scenario-node ${node.is_sky ? "scenario-sky" : ""} ${isChosen(node.group, node.name) ? "is-chosen" : ""}`}
          role="button"
          tabindex={0}
          aria-pressed={isChosen(node.group, node.name)}
          aria-label={`${node.is_sky ? "Constellation" : "Node"} ${[node.title, ...node.lines].join(", ")}`}
          onPointerDown={(event) => {
            if (event.button !== 0 || node.is_sky) return;
            const [x, y] = at(event);
            setDrag({ from: node, x, y, isFar: false });
          }}
          onClick={() => choose(node.group, node.name)}
          onKeyDown={(event) => press(event, node.group, node.name)}
        >
          <rect
            x={node.x - node.width / 2}
            y={node.y - node.height / 2}
            width={node.width}
            height={node.height}
            rx={node.is_sky ? node.height / 2 : 4}
          />
          <text
            class="scenario-node-name"
            x={node.x}
            y={node.y - (LINE * node.lines.length) / 2 + 4}
            text-anchor="middle"
          >
            {node.title}
          </text>
          {node.lines.map((text, i) => (
            <text
              key={i}
              class="scenario-link-text"
              x={node.x}
              y={node.y - (LINE * node.lines.length) / 2 + 4 + LINE * (i + 1)}
              text-anchor="middle"
            >
              {text}
            </text>
          ))}
        </g>
      ))}
      <title>{summary(drawing, facts)}</title>
    </svg>
  );
}

/** The next of several links between two nodes. */
function next(names: readonly string[], chosen: readonly string[] | undefined): string {
  const now = chosen?.[0] === "link" ? names.indexOf(chosen[1] ?? "") : -1;
  return names[(now + 1) % names.length] ?? "";
}

function summary(drawing: Drawing, facts: Facts | undefined): string {
  const ways = drawing.flows.map(
    (flow) => `${flow.name}: ${flow.way.map((at) => drawing.nodes[at]?.name ?? "").join(" – ")}`,
  );
  return [facts?.name ?? "", ...ways].filter((text) => text !== "").join("\n");
}

/** Flows as lines beside the links that they take. */
function Flows({
  drawing,
  isBent,
  isChosen,
}: {
  drawing: Drawing;
  isBent: (a: number, b: number) => boolean;
  isChosen: (name: string) => boolean;
}) {
  const ranks = new Map<string, number>();
  return (
    <g class="scenario-flows" aria-hidden="true">
      {drawing.flows.map((flow, number) => {
        let path = "";
        for (let i = 1; i < flow.way.length; i++) {
          const [from, to] = [flow.way[i - 1] ?? 0, flow.way[i] ?? 0];
          const [a, b] = [drawing.nodes[from], drawing.nodes[to]];
          if (a === undefined || b === undefined) continue;
          const key = from < to ? `${from},${to}` : `${to},${from}`;
          const rank = ranks.get(key) ?? 0;
          ranks.set(key, rank + 1);
          path += line(a, b, isBent(from, to), BESIDE + APART * rank);
        }
        return (
          <path
            key={flow.name}
            class={`scenario-flow series-${number % 8} ${isChosen(flow.name) ? "is-chosen" : ""}`}
            d={path}
            stroke-dasharray={DASHES[Math.floor(number / 2) % 4]}
          />
        );
      })}
    </g>
  );
}

/** The flows as buttons, each with the line that it has in the picture. */
export function FlowList({ scenario, drawing }: { scenario: ScenarioDocument; drawing: Drawing }) {
  const chosen = scenario.chosen.value;
  const facts = scenario.facts.value;
  if (drawing.flows.length === 0) return null;
  return (
    <ul class="scenario-flow-list" aria-label="Flows">
      {drawing.flows.map((flow, number) => {
        const fact = facts?.flows.find((one) => one.name.replace(/\[.*/, "") === flow.name);
        const isChosen = chosen?.[0] === "flow" && chosen[1] === flow.name;
        return (
          <li key={flow.name}>
            <button
              type="button"
              class="scenario-flow-button"
              aria-pressed={isChosen}
              onClick={() => {
                scenario.chosen.value = ["flow", flow.name];
                scenario.show(["flow", flow.name]);
              }}
              onKeyDown={(event) => {
                if (event.key === "Delete") void scenario.edit({ edit: "remove", group: "flow", name: flow.name });
              }}
            >
              <svg width="22" height="8" aria-hidden="true">
                <path
                  class={`scenario-flow series-${number % 8}`}
                  d="M0 4H22"
                  stroke-dasharray={DASHES[Math.floor(number / 2) % 4]}
                />
              </svg>
              <strong>{flow.name}</strong>
              {fact !== undefined && (
                <span class="muted">
                  {[fact.transport, fact.application].filter((text) => text !== null).join(", ")}
                </span>
              )}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Tables that have a name and no place in the picture, as buttons that open their form. */
export function OtherTables({ scenario, groups }: { scenario: ScenarioDocument; groups: readonly string[] }) {
  const chosen = scenario.chosen.value;
  const isDrawn = (group: string) => ["node", "link", "flow", "constellation"].includes(group);
  const found = scenario.places.value.filter(
    (entry) => entry.path.length === 2 && groups.includes(entry.path[0] ?? "") && !isDrawn(entry.path[0] ?? ""),
  );
  if (found.length === 0) return null;
  return (
    <ul class="scenario-flow-list" aria-label="Other tables">
      {found.slice(0, MOST_OTHERS).map(({ path }) => (
        <li key={path.join()}>
          <button
            type="button"
            class="scenario-flow-button"
            aria-pressed={chosen?.[0] === path[0] && chosen?.[1] === path[1]}
            onClick={() => {
              scenario.chosen.value = path;
              scenario.show(path);
            }}
          >
            <span class="muted">{path[0]}</span> <strong>{path[1]}</strong>
          </button>
        </li>
      ))}
    </ul>
  );
}
