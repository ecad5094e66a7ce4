// Opening and saving: the examples, the files of the opened folder, a file of this machine.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, Problem } from "../../lib/api";
import { saveFile } from "../../lib/clipboard";
import { Button, Dialog, messageOf, toast } from "../../ui";
import type { ScenarioDocument } from "./document";

export interface Example {
  name: string;
  about: string;
  text: string;
}

interface FileEntry {
  path: string;
  name: string;
  kind: string;
}

let asked: Promise<Example[]> | undefined;

/** The ready-made scenarios; asked for once. */
export function examples(): Promise<Example[]> {
  asked ??= ask<{ examples: Example[] }>("/api/scenario/examples").then(({ examples }) => examples);
  asked.catch(() => (asked = undefined));
  return asked;
}

/** The text of a file of the opened folder. */
export async function readFile(path: string): Promise<string> {
  return (await ask<{ text: string }>("/api/file", { path })).text;
}

const MOST_BYTES = 1 << 20;

export function Files({ scenario, hasFolder }: { scenario: ScenarioDocument; hasFolder: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const [conflict, setConflict] = useState<string>();
  const origin = scenario.origin.value;
  const isEdited = scenario.text.value !== origin.text;
  const save = async (expected: string) => {
    const text = scenario.text.value;
    try {
      await ask("/api/file/save", { path: origin.name, text, expected });
      scenario.origin.value = { ...origin, text };
      setConflict(undefined);
      toast(`Saved ${origin.name}.`, "good");
    } catch (error) {
      const now = error instanceof Problem && error.status === 409 ? error.details["text"] : undefined;
      if (typeof now === "string") setConflict(now);
      else toast(messageOf(error), "bad");
    }
  };
  const download = () =>
    saveFile(
      `${origin.name.replace(/^.*\//, "").replace(/\.toml$/, "")}.toml`,
      scenario.text.value,
      "application/toml",
    );
  return (
    <>
      <Button onClick={() => setOpen(true)} icon="scenario">
        Open
      </Button>
      <span class="scenario-name">
        <strong>{origin.name}</strong>
        <span class="muted">
          {" "}
          {origin.kind === "example" ? "example" : ""} {isEdited ? "edited" : ""}
        </span>
      </span>
      {origin.kind === "file" && (
        <Button onClick={() => void save(origin.text)} disabled={!isEdited}>
          Save
        </Button>
      )}
      <Button icon="save" onClick={download}>
        Download
      </Button>
      {isOpen && (
        <OpenDialog scenario={scenario} hasFolder={hasFolder} isEdited={isEdited} onClose={() => setOpen(false)} />
      )}
      <Dialog
        open={conflict !== undefined}
        title={`${origin.name} was changed on disk`}
        onClose={() => setConflict(undefined)}
        foot={
          <>
            <Button onClick={() => setConflict(undefined)}>Keep editing</Button>
            <Button
              onClick={() => {
                scenario.open(conflict ?? "", { ...origin, text: conflict ?? "" });
                setConflict(undefined);
              }}
            >
              Load the file from disk
            </Button>
            <Button kind="danger" onClick={() => void save(conflict ?? "")}>
              Overwrite the file
            </Button>
          </>
        }
      >
        <p>Another program has written to the file since it was opened here. Nothing was saved.</p>
      </Dialog>
    </>
  );
}

function OpenDialog({
  scenario,
  hasFolder,
  isEdited,
  onClose,
}: {
  scenario: ScenarioDocument;
  hasFolder: boolean;
  isEdited: boolean;
  onClose: () => void;
}) {
  const [all, setAll] = useState<readonly Example[]>([]);
  const [files, setFiles] = useState<readonly FileEntry[]>([]);
  const [filter, setFilter] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const failed = (error: unknown) => toast(messageOf(error), "bad");
  useEffect(() => {
    examples().then(setAll, failed);
    if (hasFolder)
      ask<{ files: FileEntry[] }>("/api/files", { below: "" }).then(
        ({ files }) => setFiles(files.filter((file) => file.kind === "scenario")),
        failed,
      );
  }, []);
  const matches = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(filter.toLowerCase()));
  const open = (kind: "own" | "file" | "example", name: string, text: string) => {
    scenario.open(text, { kind, name, text });
    onClose();
  };
  const local = async (file: File) => {
    if (file.size > MOST_BYTES) return toast(`${file.name} is larger than 1 MiB, the most that is read.`, "bad");
    open("own", file.name.replace(/\.toml$/, ""), await file.text());
  };
  return (
    <Dialog open title="Open a scenario" onClose={onClose} wide>
      {isEdited && (
        <p class="muted">The text that is open was edited; opening another one can be undone in the editor.</p>
      )}
      <div class="row">
        <input
          class="input scenario-filter"
          type="search"
          aria-label="Filter"
          placeholder="Filter"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <Button onClick={() => input.current?.click()}>A file on this computer</Button>
        <input
          ref={input}
          hidden
          type="file"
          accept=".toml"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file !== undefined) void local(file);
          }}
        />
      </div>
      {files.length > 0 && (
        <>
          <h3>In the opened folder</h3>
          <ul class="scenario-open-list">
            {files
              .filter((file) => matches(file.path))
              .map((file) => (
                <Item
                  key={file.path}
                  name={file.path}
                  onOpen={() => readFile(file.path).then((text) => open("file", file.path, text), failed)}
                />
              ))}
          </ul>
        </>
      )}
      <h3>Examples</h3>
      <ul class="scenario-open-list">
        {all
          .filter((example) => matches(example.name, example.about))
          .map((example) => (
            <Item
              key={example.name}
              name={example.name}
              about={example.about}
              onOpen={() => open("example", example.name, example.text)}
            />
          ))}
      </ul>
    </Dialog>
  );
}

/** What can be opened. */
function Item({ name, about, onOpen }: { name: string; about?: string; onOpen: () => void }) {
  return (
    <li>
      <button type="button" class="scenario-open-item" onClick={onOpen}>
        <strong>{name}</strong> {about !== undefined && <span class="muted">{about}</span>}
      </button>
    </li>
  );
}
