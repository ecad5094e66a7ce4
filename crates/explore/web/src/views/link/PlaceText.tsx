// A place: a city with completion, or degrees. It is asked about when it is whole.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../../lib/api";
import { TextField } from "../../ui";
import { helpOf } from "./hello";
import { draft, set } from "./question";
import type { Run } from "./run";

export function PlaceText({ name, label, run }: { name: "from" | "to"; label: string; run: Run }) {
  const [typed, type] = useState<string | undefined>(undefined);
  const [found, find] = useState<readonly string[]>([]);
  const asking = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => asking.current?.abort(), []);
  const failure = run.failure.value;
  const change = (text: string, isDone: boolean) => {
    if (isDone || found.includes(text)) {
      asking.current?.abort();
      type(undefined);
      // An orbit needs both places: an empty field stays what it was.
      if (text.trim() !== "") set({ [name]: text.trim() }, true);
      return;
    }
    type(text);
    asking.current?.abort();
    asking.current = new AbortController();
    ask<{ places: { text: string }[] }>("/api/sky/places", { text }, asking.current.signal).then(
      ({ places }) => find(places.map((place) => place.text)),
      () => undefined,
    );
  };
  return (
    <TextField
      label={label}
      help={helpOf(name)}
      error={failure?.option === name ? failure.message : undefined}
      value={typed ?? draft.value[name] ?? ""}
      onValue={change}
      suggestions={found}
    />
  );
}
