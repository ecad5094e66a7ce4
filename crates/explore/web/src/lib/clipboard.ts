// Copying and saving. A browser may refuse the clipboard: then the text is shown, selected.
import { signal } from "@preact/signals";
import { toast } from "../ui/toast";

/** Text that could not be copied and is shown instead. */
export const shownText = signal<{ text: string; what: string } | undefined>(undefined);

/** Copies text and says so; false if it had to be shown instead. `what`: "the command". */
export async function copyText(text: string | (() => Promise<string>), what: string): Promise<boolean> {
  let plain: string;
  try {
    plain = typeof text === "string" ? text : await text();
  } catch (error) {
    toast(`Cannot copy ${what}: ${error instanceof Error ? error.message : String(error)}`, "bad");
    return false;
  }
  try {
    await navigator.clipboard.writeText(plain);
    toast(`Copied ${what}.`, "good");
    return true;
  } catch {
    shownText.value = { text: plain, what };
    return false;
  }
}

/** Saves text or bytes as a file in the browser's folder for downloads. */
export function saveFile(name: string, content: string | Blob, type: string): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads the blob after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
