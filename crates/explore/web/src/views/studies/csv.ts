// A table as CSV: a line for each cell, with the numbers in base units.
import { csvField } from "../../lib/csv";
import { labelsOf, type Pivot } from "./model";

export function pivotCsv(pivot: Pivot): string {
  const names = [...pivot.rows.groups, ...pivot.columns.groups].map(({ name }) => name);
  const unit = pivot.unit === "" ? "value" : `value_${pivot.unit.replace("/", "p")}`;
  const lines = [[...names, unit, "low95", "high95", "n", "runs"]];
  const width = pivot.columns.places.length;
  pivot.cells.forEach((cell, i) => {
    if (cell === null) return;
    const labels = [...labelsOf(pivot.rows, Math.floor(i / width)), ...labelsOf(pivot.columns, i % width)];
    lines.push([...labels, ...cell.map((value) => (value === null ? "" : String(value)))]);
  });
  return `${lines.map((line) => line.map(csvField).join(",")).join("\n")}\n`;
}
