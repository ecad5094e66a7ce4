// Diagnostics in the editor: marks in the text and at the line, with what was expected, help,
// and a button where the server knows what was meant.
import { setDiagnostics, type Diagnostic as Mark } from "@codemirror/lint";
import type { EditorView } from "@codemirror/view";
import type { Current } from "./document";
import type { Diagnostic } from "./types";

/** The words of a diagnostic as elements. */
function words(found: Diagnostic): HTMLElement {
  const box = document.createElement("div");
  const add = (text: string, name: string) => {
    if (text === "") return;
    const line = document.createElement("div");
    line.className = name;
    line.textContent = text;
    box.append(line);
  };
  add(found.message, "scenario-mark-message");
  add(found.expected, "scenario-mark-expected");
  for (const help of found.help) add(help, "scenario-mark-help");
  if (found.related !== null) add(`line ${found.related.line}: ${found.related.label}`, "scenario-mark-help");
  return box;
}

/** Shows what was found; of another text than the editor's nothing. */
export function mark(view: EditorView, current: Current): void {
  const length = view.state.doc.length;
  const marks = current.checked.diagnostics.map((found): Mark => {
    const from = Math.min(found.from === null ? 0 : current.at(found.from), length);
    let to = Math.min(found.to === null ? 0 : current.at(found.to), length);
    // An empty place, such as the end of a line, is marked by the character before it.
    const start = to > from || from === 0 ? from : from - 1;
    if (to === start) to = Math.min(start + 1, length);
    const made: Mark = {
      from: start,
      to,
      severity: "error",
      message: [found.message, found.expected, ...found.help].filter((text) => text !== "").join(". "),
      renderMessage: () => words(found),
    };
    const { fix } = found;
    if (fix !== null && found.from !== null && found.to !== null) {
      const range = [current.at(found.from), current.at(found.to)] as const;
      made.actions = [
        {
          name: `Replace by ${fix}`,
          apply: (view) =>
            view.dispatch({ changes: { from: range[0], to: range[1], insert: fix }, userEvent: "input.fix" }),
        },
      ];
    }
    return made;
  });
  view.dispatch(setDiagnostics(view.state, marks));
}
