// The right side: the picture with its tools, and the form of what is chosen in it.
import { useState } from "preact/hooks";
import { Button, Dialog, Empty, Select, TextField } from "../../ui";
import type { ScenarioDocument } from "./document";
import { namesIn, type Language } from "./language";
import { FlowList, Network, OtherTables } from "./Network";
import { freeName, keysOf, Properties } from "./Properties";

interface PictureProps {
  scenario: ScenarioDocument;
  language: Language | undefined;
}

/** What is being added. */
interface Adding {
  group: "node" | "link" | "flow";
  name: string;
  from: string;
  to: string;
}

export function Picture({ scenario, language }: PictureProps) {
  const [adding, setAdding] = useState<Adding>();
  const drawing = scenario.drawing.value;
  const chosen = scenario.chosen.value;
  const nodes = namesIn(scenario.places.value, "node");
  const begin = (group: Adding["group"], from = nodes[0] ?? "", to = nodes.find((node) => node !== from) ?? "") =>
    setAdding({ group, name: freeName(namesIn(scenario.places.value, group), group), from, to });
  const add = async ({ group, name, from, to }: Adding) => {
    if (language === undefined) return;
    const given: Record<string, string> = {};
    if (group === "link") given["between"] = `[${JSON.stringify(from)}, ${JSON.stringify(to)}]`;
    if (group === "flow") Object.assign(given, { from: JSON.stringify(from), to: JSON.stringify(to) });
    // The example of a node is about many of them, and that of a flow about a late one.
    // The example of a link is of a satellite's; its values are a beginning.
    const all = group === "node" ? [] : keysOf(language, group, given).filter(([key]) => key !== "start");
    if (await scenario.edit({ edit: "add", group, name, keys: all })) {
      setAdding(undefined);
      scenario.chosen.value = [group, name];
    }
  };
  return (
    <div class="scenario-picture">
      <div class="scenario-tools" role="toolbar" aria-label="Edit the network">
        <Button size="small" onClick={() => begin("node")}>
          Add a node
        </Button>
        <Button size="small" disabled={nodes.length < 2} onClick={() => begin("link")}>
          Add a link
        </Button>
        <Button size="small" disabled={nodes.length < 2} onClick={() => begin("flow")}>
          Add a flow
        </Button>
        <span class="muted small scenario-hint">Drag from one node to another to draw a link.</span>
      </div>
      {drawing === undefined || drawing.nodes.length === 0 ? (
        <Empty title="No network yet">
          <p>Add a node, or open an example.</p>
        </Empty>
      ) : (
        <>
          <div class={`scenario-canvas ${scenario.isBehind.value ? "is-behind" : ""}`}>
            <Network scenario={scenario} drawing={drawing} onLink={(from, to) => begin("link", from, to)} />
          </div>
          <p class="muted small scenario-under">
            {scenario.isBehind.value && scenario.current.value?.checked.places === null
              ? "The picture shows the text as it last was TOML. "
              : ""}
            {drawing.left_out > 0 ? `${drawing.left_out} more nodes are not drawn. ` : ""}
          </p>
          <FlowList scenario={scenario} drawing={drawing} />
          {language !== undefined && (
            <OtherTables scenario={scenario} groups={language.groups.map((key) => key.name)} />
          )}
        </>
      )}
      {language !== undefined && chosen !== undefined && scenario.entry(chosen.slice(0, 2)) !== undefined && (
        <Properties key={chosen.join()} scenario={scenario} language={language} path={chosen} />
      )}
      {adding !== undefined && (
        <Add
          adding={adding}
          nodes={nodes}
          onChange={setAdding}
          onAdd={() => void add(adding)}
          onClose={() => setAdding(undefined)}
        />
      )}
    </div>
  );
}

interface AddProps {
  adding: Adding;
  nodes: readonly string[];
  onChange: (adding: Adding) => void;
  onAdd: () => void;
  onClose: () => void;
}

function Add({ adding, nodes, onChange, onAdd, onClose }: AddProps) {
  const { group } = adding;
  const [from, to] = group === "flow" ? ["from (sends the data)", "to (receives it)"] : ["from", "to"];
  return (
    <Dialog
      open
      title={`Add a ${group}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" onClick={onAdd} disabled={group !== "node" && adding.from === adding.to}>
            Add
          </Button>
        </>
      }
    >
      <form
        class="scenario-fields"
        onSubmit={(event) => {
          event.preventDefault();
          onAdd();
        }}
      >
        <TextField label="name" value={adding.name} onValue={(name) => onChange({ ...adding, name })} />
        {group !== "node" && (
          <Select
            label={from ?? ""}
            value={adding.from}
            options={nodes}
            onValue={(from) => onChange({ ...adding, from })}
          />
        )}
        {group !== "node" && (
          <Select label={to ?? ""} value={adding.to} options={nodes} onValue={(to) => onChange({ ...adding, to })} />
        )}
      </form>
    </Dialog>
  );
}
