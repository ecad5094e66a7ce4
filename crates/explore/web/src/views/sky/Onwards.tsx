// From here to the other views and to the command line.
import { useEffect, useState } from "preact/hooks";
import { href } from "../../lib/address";
import { Copy } from "../../ui";
import { packed } from "../scenario/store";
import { compareCommand } from "./question";
import { sky } from "./store";
import type { Question } from "./types";

export function Onwards({ question }: { question: Question }) {
  const command = compareCommand(question);
  const scenario = sky.value?.header.scenario;
  const [word, setWord] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    setWord(undefined);
    // Satellites of a file need the file beside the scenario.
    if (scenario === undefined || question.orbit === "file") return undefined;
    packed(scenario).then(
      (found) => {
        if (isCurrent) setWord(found);
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [scenario]);
  const link: Record<string, string> = { orbit: question.orbit, from: question.from, to: question.to };
  if (question.slot !== undefined) link["slot"] = String(question.slot);
  return (
    <section class="sky-onwards" aria-label="Use this path elsewhere">
      {command !== undefined ? (
        <>
          <a class="button button-primary" href={href("link", link)}>
            Compare transports over this path
          </a>
          <span class="sky-command">
            <code>{command}</code>
            <Copy text={command} what="the command" />
          </span>
        </>
      ) : (
        <p class="muted small">
          `bentpipe compare` has no options for this constellation. Use the scenario: `bentpipe map` draws it, and
          `bentpipe run` runs it.
        </p>
      )}
      {word !== undefined && (
        <a class="button" href={href("scenario", { text: word, name: "sky" })}>
          Open as a scenario
        </a>
      )}
      {scenario !== undefined && (
        <Copy text={scenario} what="the scenario">
          Copy as scenario
        </Copy>
      )}
    </section>
  );
}
