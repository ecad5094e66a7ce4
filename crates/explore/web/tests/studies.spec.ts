// The view "Studies" on the real server: a study of a million runs, its table, filters,
// figure and runs; a study's file that is run by the page.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { axe, expect, REPOSITORY, test } from "./server";

const FOLDER = mkdtempSync(join(tmpdir(), "bentpipe-studies-"));
const REPLICATIONS = 2000;
const RUNS = 500 * REPLICATIONS;

/** What the example `many_runs` wrote for a run. */
const time = (run: number): number | undefined => (run % 97 === 0 ? undefined : 1 + ((7919 * run) % 1000) / 1000);

/** The mean of the times of the runs that pass. */
function mean(passes: (rate: number, delay: number, loss: number, kind: number) => boolean): number {
  let [sum, n] = [0, 0];
  for (let run = 0; run < RUNS; run++) {
    const cell = Math.floor(run / REPLICATIONS);
    if (!passes(Math.floor(cell / 125), Math.floor(cell / 25) % 5, Math.floor(cell / 5) % 5, cell % 5)) continue;
    const value = time(run);
    if (value === undefined) continue;
    sum += value;
    n += 1;
  }
  return sum / n;
}

test.beforeAll(() => {
  test.setTimeout(600_000);
  // Written by the writer of results, and not simulated.
  const example = join(REPOSITORY, "target/debug/examples/many_runs");
  const folder = join(FOLDER, "many");
  if (existsSync(example)) execFileSync(example, [folder]);
  else execFileSync("cargo", ["run", "-q", "-p", "bentpipe-outcome", "--example", "many_runs", "--", folder], { cwd: REPOSITORY });
  cpSync(join(REPOSITORY, "docs/data"), join(FOLDER, "sweep"), { recursive: true });
});

test.afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

test.use({ open: FOLDER });
test.describe.configure({ timeout: 120_000 });

/** A million runs take a while where everything else runs, too. */
const patient = expect.configure({ timeout: 30_000 });

test("the folder's studies are listed, and one is opened", async ({ page, explorer }) => {
  await explorer.visit(page, "#/studies");
  await patient(page.getByRole("link", { name: "sweep/sweep.toml" })).toBeVisible();
  await axe(page);
  await page.getByRole("link", { name: "many", exact: true }).click();
  await patient(page.getByText("1,000,000 runs", { exact: false }).first()).toBeVisible();
  await patient(page).toHaveURL(/study=many/);
});

test("a table of a million runs is what a simple program counts", async ({ page, explorer }) => {
  await explorer.visit(page, "#/studies?study=many&rows=delay&columns=kind");
  const row = page.getByRole("row", { name: /^50 ms/ });
  const cell = (kind: string) => row.getByRole("button", { name: new RegExp(`^50 ms, ${kind}: `) });
  const expected = mean((_rate, delay, _loss, kind) => delay === 1 && kind === 1);
  await patient(cell("hybla")).toContainText(expected.toFixed(3));
  await axe(page);
  // A press on a value of a facet filters, and is in the address.
  await page.getByRole("group", { name: "loss" }).getByLabel(/^1%/).check();
  await patient(page).toHaveURL(/f\.loss=1%25/);
  await patient(page.getByText("200,000 of 1,000,000 runs")).toBeVisible();
  const filtered = mean((_rate, delay, loss, kind) => delay === 1 && kind === 1 && loss === 1);
  await patient(cell("hybla")).toContainText(filtered.toFixed(3));
  // The facet of the filter itself still counts the others.
  await patient(page.getByRole("group", { name: "loss" }).getByText("200,000")).toHaveCount(5);
  await page.reload();
  await patient(cell("hybla")).toContainText(filtered.toFixed(3));
  // A cell opens the runs behind it.
  await cell("hybla").click();
  await patient(page).toHaveURL(/tab=runs/);
  await patient(page.getByText("8,000 runs", { exact: false })).toBeVisible();
  await page.goBack();
  await patient(cell("hybla")).toBeVisible();
});

test("axes are moved by keyboard, and the statistic is chosen", async ({ page, explorer }) => {
  await explorer.visit(page, "#/studies?study=many&rows=delay&columns=kind");
  await page.getByRole("button", { name: "kind, columns: move" }).focus();
  await page.keyboard.press("Enter");
  await patient(page.getByRole("menuitem", { name: "To rows" })).toBeFocused();
  await page.keyboard.press("Enter");
  await patient(page).toHaveURL(/rows=delay,kind|rows=delay%2Ckind/);
  await patient(page.getByText("in 25 × 1 cells", { exact: false })).toBeVisible();
  await page.getByLabel("Statistic").selectOption("finished");
  // All but every 97th.
  await patient(page.getByRole("button", { name: /^20 ms, cubic: / })).toContainText("0.990");
});

test("a range is dragged over a histogram", async ({ page, explorer }) => {
  await explorer.visit(page, "#/studies?study=many&rows=delay&columns=kind");
  const bars = page.getByRole("img", { name: /^Histogram of transfer_time_s/ });
  await bars.scrollIntoViewIfNeeded();
  const box = await bars.boundingBox();
  if (box === null) throw new Error("no histogram");
  await page.mouse.move(box.x + 2, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await patient(page).toHaveURL(/f\.transfer_time_s=/);
  await patient(page.getByText(/^[45]\d\d,\d{3} of 1,000,000 runs$/)).toBeVisible();
});

test("a figure has the axes that are chosen", async ({ page, explorer }) => {
  await explorer.visit(page, "#/studies?study=many&tab=figure&x=delay&series=kind");
  await patient(page.getByText("bands are 95% intervals", { exact: false })).toBeVisible();
  await patient(page.locator("canvas")).toHaveCount(1);
  await page.getByLabel("A panel for each").selectOption("loss");
  await patient(page.locator("canvas")).toHaveCount(5);
  await patient(page).toHaveURL(/facet=loss/);
  await axe(page);
  // The server draws the same for a document.
  const answer = await page.evaluate(async () => {
    const body = JSON.stringify({ study: "many", x: "delay", series: "kind", facet: "loss", metric: "transfer_time_s" });
    const response = await fetch("/api/studies/chart", { method: "POST", headers: { "content-type": "application/json" }, body });
    return (await response.json()) as { svg: string };
  });
  expect(answer.svg).toContain("<svg");
});

test("a study's file is run, and a run of it again", async ({ page, explorer }) => {
  test.setTimeout(120_000);
  await explorer.visit(page, "#/studies?study=sweep/sweep.toml");
  await patient(page.getByText("60 runs: 12 cells with 5 each", { exact: false })).toBeVisible();
  await axe(page);
  await page.getByRole("button", { name: "Run it here (60 runs)" }).click();
  await patient(page.getByRole("button", { name: /^50 ms, 0.1%, cubic: / })).toBeVisible({ timeout: 60_000 });
  await page.getByRole("tab", { name: "Runs" }).click();
  await page.getByRole("button", { name: "0", exact: true }).click();
  await patient(page.getByText("bentpipe run sweep/link.toml --set", { exact: false })).toContainText("--seed 1");
  const open = page.getByRole("link", { name: "Open it in Scenario" });
  await patient(open).toHaveAttribute("href", /#\/scenario\?text=/);
});

test("fits a phone", async ({ page, explorer }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await explorer.visit(page, "#/studies?study=many&rows=delay&columns=kind");
  await patient(page.getByRole("button", { name: /^50 ms, hybla: / })).toBeAttached();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await axe(page);
});

test("nothing outside of the folder is opened", async ({ page, explorer }) => {
  await explorer.visit(page, "#/studies?study=../../etc");
  await patient(page.getByRole("alert")).toContainText("not in the folder that was opened");
});
