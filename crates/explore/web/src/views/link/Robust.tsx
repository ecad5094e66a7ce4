// `robust`: whether the advice holds for half and twice of each quantity, and where it turns.
import { PlainTable } from "../../ui/PlainTable";
import type { NeighbourRecord } from "./records";
import type { Shown } from "./run";

const COLUMNS = ["", "half", "as asked", "twice", "turns below", "turns above"].map((label) => ({ label }));

export function Robust({ shown }: { shown: Shown }) {
  const robust = shown.answer?.robustness;
  if (robust === null || robust === undefined) return null;
  const rows = robust.dimensions.map(({ dimension, half, asked, twice, below, above }) => [
    dimension,
    near(half),
    asked,
    near(twice),
    below.text,
    above.text,
  ]);
  return (
    <div class="link-over">
      <p>{robust.text}</p>
      <PlainTable label="Does the advice hold beside the question?" columns={COLUMNS} rows={rows} />
    </div>
  );
}

function near(neighbour: NeighbourRecord | null): string {
  return neighbour === null ? "-" : `${neighbour.value}: ${neighbour.text}`;
}
