// Text that the browser did not let the page copy: shown, selected, ready for Ctrl+C.
import { useEffect, useRef } from "preact/hooks";
import { shownText } from "../lib/clipboard";
import { Dialog } from "../ui/Dialog";

export function ShownText() {
  const shown = shownText.value;
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.select(), [shown]);
  return (
    <Dialog
      open={shown !== undefined}
      title={`Copy ${shown?.what ?? ""}`}
      onClose={() => (shownText.value = undefined)}
    >
      <p class="muted">This browser does not let the page copy. The text is selected: press Ctrl+C or ⌘C.</p>
      <div class="field-box">
        <textarea
          ref={field}
          class="input mono"
          rows={8}
          readOnly
          aria-label="Text to copy"
          value={shown?.text ?? ""}
        />
      </div>
    </Dialog>
  );
}
