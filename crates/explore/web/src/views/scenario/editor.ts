// The editor of TOML.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory, redo, undo } from "@codemirror/commands";
import {
  bracketMatching,
  HighlightStyle,
  indentUnit,
  StreamLanguage,
  type StreamParser,
  syntaxHighlighting,
} from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { Annotation, ChangeSet, EditorSelection, EditorState, Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { completion } from "./completion";
import type { Surface } from "./document";
import { hover } from "./hover";
import type { Language } from "./language";
import { positions } from "./offsets";
import type { Entry, Splice } from "./types";

export interface EditorOptions {
  parent: HTMLElement;
  text: string;
  language: () => Language | undefined;
  places: () => readonly Entry[];
  /** After every change of the text. */
  onText: (text: string) => void;
  /** Where the cursor went, by the user. */
  onCursor: (at: number) => void;
  onHelp: (at: number) => void;
}

/** A selection that the picture made. */
const fromPicture = Annotation.define<boolean>();

/** The state of the mode for TOML, as far as it is known here. */
interface TomlState {
  inString: boolean;
  stringType: string;
}

/** The mode, in which a string that is not closed ends with its line and not with the text. */
const TOML: StreamParser<unknown> = {
  ...toml,
  token(stream, state) {
    const own = state as TomlState;
    if (stream.sol() && own.inString && own.stringType.length === 1) own.inString = false;
    return toml.token(stream, state);
  },
};

const COLOURS = HighlightStyle.define([
  { tag: tags.comment, class: "scenario-tok-comment" },
  { tag: [tags.string, tags.special(tags.string)], class: "scenario-tok-string" },
  { tag: [tags.number, tags.atom, tags.bool], class: "scenario-tok-number" },
  { tag: [tags.propertyName, tags.variableName, tags.definition(tags.variableName)], class: "scenario-tok-key" },
  { tag: [tags.bracket, tags.heading], class: "scenario-tok-table" },
]);

export class Editor implements Surface {
  readonly view: EditorView;

  constructor(readonly options: EditorOptions) {
    const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
    this.view = new EditorView({
      parent: options.parent,
      state: EditorState.create({
        doc: options.text,
        extensions: [
          EditorView.cspNonce.of(nonce),
          lineNumbers(),
          lintGutter(),
          highlightActiveLineGutter(),
          highlightActiveLine(),
          history(),
          drawSelection(),
          indentUnit.of("  "),
          bracketMatching(),
          closeBrackets(),
          StreamLanguage.define(TOML),
          syntaxHighlighting(COLOURS),
          autocompletion({
            override: [completion(options.language, options.places)],
            activateOnTyping: true,
            icons: false,
            tooltipClass: () => "scenario-completion",
          }),
          hover(options.language, options.places),
          keymap.of([
            { key: "F1", run: (view) => (options.onHelp(view.state.selection.main.head), true) },
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...lintKeymap,
            ...historyKeymap,
            ...defaultKeymap,
          ]),
          EditorView.contentAttributes.of({ "aria-label": "Scenario, in TOML", spellcheck: "false", tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) options.onText(update.state.doc.toString());
            const isOwn = update.transactions.some((one) => one.annotation(fromPicture) === true);
            if (update.selectionSet && !isOwn) options.onCursor(update.state.selection.main.head);
          }),
        ],
      }),
    });
  }

  splice(steps: readonly (readonly Splice[])[], text: string): void {
    let made = ChangeSet.empty(text.length);
    let doc = Text.of(text.split("\n"));
    for (const splices of steps) {
      const at = positions(doc.toString());
      const changes = splices.map(({ from, to, insert }) => ({ from: at(from), to: at(to), insert }));
      const next = ChangeSet.of(changes, doc.length, "\n");
      made = made.compose(next);
      doc = next.apply(doc);
    }
    this.view.dispatch({
      changes: made,
      scrollIntoView: false,
      userEvent: "input.picture",
      annotations: [isolateHistory.of("full"), fromPicture.of(true)],
    });
  }

  select(from: number, to: number): void {
    const length = this.view.state.doc.length;
    const range = EditorSelection.range(Math.min(from, length), Math.min(to, length));
    this.view.dispatch({
      selection: EditorSelection.single(range.from, range.to),
      effects: EditorView.scrollIntoView(range, { y: "center" }),
      annotations: fromPicture.of(true),
    });
  }

  setText(text: string): void {
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      selection: { anchor: 0 },
      annotations: [isolateHistory.of("full"), fromPicture.of(true)],
    });
  }

  undo(): void {
    undo(this.view);
  }

  redo(): void {
    redo(this.view);
  }

  focus(): void {
    this.view.focus();
  }

  close(): void {
    this.view.destroy();
  }
}
