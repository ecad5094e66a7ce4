// Where the advice changes with the size: the time of each transport as a share of the
// default's, over the sizes.
import { Chart, type Series } from "../../ui/Chart";
import { meanOf, place, type Shown } from "./run";

/** Curves, at most: more cannot be told apart. */
const CURVES = 6;

export function BySize({ shown }: { shown: Shown }) {
  const { begin, verdict } = shown;
  const time = (row: number, size: number) => meanOf(shown.standings.get(place(row, size)));
  const share = (row: number) =>
    begin.sizes.map((_, size) => {
      const [of, usual] = [time(row, size), time(begin.baseline, size)];
      return of === null || usual === null || usual === 0 ? null : of / usual;
    });
  const fastest = begin.sizes.map((_, size) => {
    const known = begin.rows.filter(({ row, deployable }) => deployable && time(row, size) !== null);
    return known.toSorted((a, b) => (time(a.row, size) ?? 0) - (time(b.row, size) ?? 0))[0]?.row;
  });
  const wanted = [verdict?.pick_row, ...fastest, ...(verdict?.order ?? [])].filter(
    (row) => row != null && row !== begin.baseline,
  );
  const rows = [...new Set(wanted)].slice(0, CURVES);
  const series = rows.flatMap((row, i): Series[] => {
    const facts = begin.rows.find((each) => each.row === row);
    if (facts === undefined) return [];
    const label = begin.peps.length > 1 ? `${facts.transport} (${facts.pep})` : facts.transport;
    return [{ label, values: share(facts.row), color: i, dash: i }];
  });
  const usual = begin.rows.find(({ row }) => row === begin.baseline)?.transport ?? "";
  return (
    <div class="link-over">
      <Chart
        label={`Time of a ${begin.unit} against ${usual}, by size`}
        description="what is below 1 is faster"
        x={{ label: "size [MB]", values: begin.sizes_bytes.map((bytes) => bytes / 1e6), isLog: true }}
        y={{ label: `share of ${usual}'s time`, from: 0 }}
        levels={[{ y: 1, label: usual, tone: "muted" }]}
        series={series}
        height={300}
      />
    </div>
  );
}
