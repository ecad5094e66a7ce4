// What the view can be copied or saved as.
import { useEffect } from "preact/hooks";
import { ask } from "../../lib/api";
import { shareable, type Shareable } from "../../lib/share";
import { csv } from "./csv";
import type { Painter } from "./paint/painter";
import { compareCommand } from "./question";
import { sky, time, version } from "./store";
import type { Question } from "./types";

/** Offers the view to the menu "Share". */
export function useShare(question: Question | undefined, painter: { current: Painter | undefined }): void {
  const current = sky.value;
  const done = version.value;
  useEffect(() => {
    if (question === undefined || current === undefined) return;
    const scenario = current.header.scenario;
    const offer: Shareable = {
      name: `${question.orbit}-sky`,
      command: compareCommand(question) ?? "bentpipe map sky.toml",
      scenario: () => Promise.resolve(scenario),
      svg: async () => (await ask<{ svg: string }>("/api/sky/picture", { sky: question, at_s: time.peek() })).svg,
      png: () => {
        if (painter.current === undefined) throw new Error("the picture is not shown");
        return painter.current.toPng();
      },
      csv: () => Promise.resolve(csv(current)),
    };
    shareable.value = offer;
  }, [JSON.stringify(question), current, done]);
}
