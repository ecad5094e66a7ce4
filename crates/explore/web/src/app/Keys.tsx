// The keys of the page, and the dialog that lists them.
import { useEffect } from "preact/hooks";
import { go } from "../lib/address";
import { viewShortcuts, type Shortcut } from "../lib/shortcuts";
import { Dialog } from "../ui/Dialog";
import { VIEWS } from "./views";

const EVERYWHERE: readonly Shortcut[] = [
  ...Object.values(VIEWS).map((view, index) => ({ keys: [String(index + 1)], does: `${view.title}: ${view.about}` })),
  { keys: ["s"], does: "Share: copy or save what is shown" },
  { keys: ["?"], does: "These keys" },
  { keys: ["Esc"], does: "Close what is open" },
];

const CONTROLS: readonly Shortcut[] = [
  { keys: ["F1"], does: "Help for the field you are in" },
  { keys: ["↑", "↓"], does: "In a field with a slider: a step; with Shift a large one" },
  { keys: ["←", "→"], does: "On a slider: a step; Page Up and Page Down a large one" },
  { keys: ["Enter"], does: "Take over what was typed" },
  { keys: ["←", "→", "Home", "End"], does: "Between tabs, and on the bar between two panes" },
];

/** The list of all keys; a view adds its own with `useShortcuts`. */
export function KeysDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const view = viewShortcuts.value;
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard">
      <div class="stack">
        <Group title="Everywhere" keys={EVERYWHERE} />
        <Group title="In fields" keys={CONTROLS} />
        {view.length > 0 && <Group title="In this view" keys={view} />}
      </div>
    </Dialog>
  );
}

function Group({ title, keys }: { title: string; keys: readonly Shortcut[] }) {
  return (
    <section>
      <h3 class="eyebrow">{title}</h3>
      <table class="frame-keys">
        <tbody>
          {keys.map((one) => (
            <tr key={one.does}>
              <td>
                {one.keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </td>
              <th scope="row">{one.does}</th>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** True if keys belong to what has the focus. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("[role=menu], dialog, [data-keys]") !== null) return true;
  return target.matches("input:not([type=checkbox], [type=radio], [type=range], [type=button]), textarea, select");
}

/** The shortcuts of the frame: single keys, and only where nobody types. */
export function useKeys({ onHelp }: { onHelp: () => void }): void {
  useEffect(() => {
    const names = Object.keys(VIEWS);
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      const view = names[Number(event.key) - 1];
      if (view !== undefined) go(view);
      else if (event.key === "?") onHelp();
      else if (event.key === "s") document.querySelector<HTMLElement>(".frame-share")?.click();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [onHelp]);
}
