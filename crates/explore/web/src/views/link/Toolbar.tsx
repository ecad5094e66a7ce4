// Above the fields: questions to begin with, back to the defaults, keep to compare.
import { Button, Menu } from "../../ui";
import type { Params } from "../../lib/address";
import { presets } from "./hello";
import { draft, key, replace } from "./question";

/** The name of the question, if it is one of the presets. */
function named(question: Params): string | undefined {
  return presets.value.find((preset) => key(preset.options) === key(question))?.name;
}

export function Toolbar({ onKeep, isKept }: { onKeep: (() => void) | undefined; isKept: boolean }) {
  const question = draft.value;
  const isUsual = Object.keys(question).length === 0;
  const items = presets.value.map((preset) => ({
    label: preset.name,
    title: preset.about,
    onSelect: () => replace(preset.options),
  }));
  return (
    <div class="link-toolbar">
      {items.length > 0 && (
        <Menu
          button={named(question) ?? "Presets"}
          label={`Presets: ${named(question) ?? "choose a link"}`}
          class="button button-small"
          groups={[{ items }]}
        />
      )}
      <Button
        size="small"
        kind="quiet"
        icon="reset"
        label="Reset to defaults"
        disabled={isUsual}
        onClick={() => replace({})}
      />
      <Button
        size="small"
        kind="quiet"
        label="Keep to compare"
        disabled={onKeep === undefined}
        pressed={isKept}
        onClick={onKeep}
      >
        Keep
      </Button>
    </div>
  );
}
