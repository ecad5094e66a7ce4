// What a chart is drawn from: its numbers as one table.
import { expect, test } from "@playwright/test";
import { table } from "../src/ui/chart/table";

const series = (x: number[]) => ({ label: "a", x, values: x.map(() => 1) });

test("charts of a group show the same range, however little their series have of it", () => {
  const chart = (...xs: number[][]) => table({ label: "", x: { label: "t", from: 0, to: 9 }, y: { label: "v" }, series: xs.map(series) });
  for (const [x, values] of [
    [[2, 5], [undefined, 1, 1, undefined]],
    [[0, 5, 9], [1, 1, 1]],
    [[], [undefined, undefined]],
  ]) {
    const { columns, at } = chart(x as number[], [4]);
    const ts = [...columns[0]];
    expect([ts[0], ts.at(-1)]).toEqual([0, 9]);
    const own = ts.flatMap((t, i) => (t === 4 ? [] : [columns[at[0] ?? 0]?.[i]]));
    expect(own).toEqual(values);
  }
});
