// The menu "Share": what is shown as an address, a command, a program, a picture, a file.
import { copyText, saveFile } from "../lib/clipboard";
import { shareable, type Shareable } from "../lib/share";
import { Icon } from "../ui/Icon";
import { Menu, type MenuItem } from "../ui/Menu";
import { messageOf } from "../ui/State";
import { toast } from "../ui/toast";

export function ShareMenu() {
  const offered = shareable.value;
  const copies = copying(offered);
  const saves = offered === undefined ? [] : saving(offered);
  const groups = [{ title: "Copy", items: copies }];
  if (saves.length > 0) groups.push({ title: "Save", items: saves });
  return (
    <Menu
      label="Share"
      class="button button-quiet frame-share"
      button={
        <>
          <Icon name="share" />
          <span class="frame-share-word">Share</span>
        </>
      }
      groups={groups}
    />
  );
}

/** The address of what is shown: the token is a cookie and not in it. */
function link(): string {
  return location.href;
}

function copying(offered: Shareable | undefined): MenuItem[] {
  const items: MenuItem[] = [
    { label: "Link to this", icon: "link", onSelect: () => void copyText(link(), "the link") },
  ];
  const add = (label: string, what: string, aside: string, text: string | (() => Promise<string>) | undefined) => {
    if (text !== undefined) items.push({ label, icon: "copy", aside, onSelect: () => void copyText(text, what) });
  };
  add("As command", "the command", "shell", offered?.command);
  add("As Python", "the Python program", "py", offered?.python);
  add("As scenario", "the scenario", "toml", offered?.scenario);
  return items;
}

function saving(offered: Shareable): MenuItem[] {
  const items: MenuItem[] = [];
  const add = (label: string, ending: string, type: string, make: (() => Promise<string | Blob>) | undefined) => {
    if (make === undefined) return;
    const name = `${offered.name}.${ending}`;
    items.push({ label, icon: "save", aside: ending, onSelect: () => void save(name, type, make) });
  };
  add("Picture for a document", "svg", "image/svg+xml", offered.svg);
  add("Picture for a slide", "png", "image/png", offered.png);
  add("Numbers", "csv", "text/csv", offered.csv);
  add("Scenario", "toml", "application/toml", offered.scenario);
  add("Report in one file", "html", "text/html", offered.report);
  return items;
}

async function save(name: string, type: string, make: () => Promise<string | Blob>): Promise<void> {
  try {
    saveFile(name, await make(), type);
    toast(`Saved ${name} to your downloads.`, "good");
  } catch (error) {
    toast(`Cannot save ${name}: ${messageOf(error)}`, "bad");
  }
}
