// The bar above the views: name, navigation, and the tools of every view.
import { href } from "../lib/address";
import { scheme, type Scheme } from "../lib/scheme";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { ShareMenu } from "./ShareMenu";
import { VIEWS } from "./views";

const SCHEMES: readonly { value: Scheme; label: string }[] = [
  { value: "auto", label: "As in the system settings" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export interface HeaderProps {
  view: string;
  onHelp: () => void;
  onTour: () => void;
  /** Offers the tour beside the menus. */
  isNew: boolean;
}

export function Header({ view, onHelp, onTour, isNew }: HeaderProps) {
  return (
    <header class="frame-bar no-print">
      <a class="frame-name" href={href("link")} aria-label="bentpipe explorer, to the start">
        <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
          <path d="M3 20 10.5 6h3L21 20M8 4.5h8M12 2v6" />
        </svg>
        <span class="frame-word">bentpipe</span>
      </a>
      <nav class="frame-views" aria-label="Views">
        {Object.entries(VIEWS).map(([name, { title, icon }]) => (
          <a key={name} href={href(name)} aria-current={name === view ? "page" : undefined}>
            <Icon name={icon} />
            {title}
          </a>
        ))}
      </nav>
      <div class="frame-tools">
        {isNew && (
          <Button size="small" icon="play" class="frame-new" onClick={onTour}>
            <span>
              Tour<span class="frame-new-more">, 1 min</span>
            </span>
          </Button>
        )}
        <ShareMenu />
        <Menu
          label={`Colours: ${SCHEMES.find((one) => one.value === scheme.value)?.label ?? ""}`}
          title="Colours: light or dark"
          class="button button-quiet button-icon frame-scheme"
          button={<Icon name={scheme.value} />}
          groups={[
            {
              title: "Colours",
              items: SCHEMES.map(({ value, label }) => ({
                label,
                icon: value,
                aside: value === scheme.value ? "chosen" : undefined,
                onSelect: () => (scheme.value = value),
              })),
            },
          ]}
        />
        <Menu
          label="Help"
          title="Help"
          class="button button-quiet button-icon frame-help"
          button={<Icon name="help" />}
          groups={[
            {
              items: [
                { label: "A tour of one minute", icon: "play", onSelect: onTour },
                { label: "Keyboard", icon: "more", aside: "?", onSelect: onHelp },
              ],
            },
          ]}
        />
      </div>
    </header>
  );
}
