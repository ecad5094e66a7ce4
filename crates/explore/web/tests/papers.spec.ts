// The view "Papers" on the real server: print at once, ours on demand, as the command has it.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { axe, COMMAND, expect, REPOSITORY, test } from "./server";

test.describe.configure({ timeout: 120_000 });

/** The simulator may share its cores. */
const patient = expect.configure({ timeout: 30_000 });

interface CellRow {
  row: string;
  column: string;
  ours: number;
  published: number | null;
}

test("a table is printed at once, and ours is what the command says", async ({ page, explorer }) => {
  test.setTimeout(120_000);
  await explorer.visit(page, "#/papers");
  const papers = readdirSync(`${REPOSITORY}/papers`).filter((name) => existsSync(`${REPOSITORY}/papers/${name}/paper.toml`));
  await patient(page.getByRole("article")).toHaveCount(papers.length);
  await axe(page);
  await page.getByRole("link", { name: /^Proposal of a Modified Version/ }).click();
  const first = page.getByRole("row", { name: /^reference/ }).getByRole("cell").first();
  await patient(first).toContainText("49.21");
  await patient(first).toContainText("…");
  await page.getByRole("button", { name: /^Run this table \(42 runs\)/ }).click();
  await patient(page.getByText("Agreement with print", { exact: false })).toBeVisible({ timeout: 60_000 });
  const text = execFileSync(COMMAND, ["reproduce", "marchese-2001", "table-1", "--json"], { cwd: REPOSITORY }).toString();
  const rows = (JSON.parse(text) as CellRow[]).filter(({ column }) => column === "40 packets | transfer time");
  expect(rows.length).toBe(8);
  for (const { row, ours, published } of rows) {
    const cell = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: row, exact: true }) }).getByRole("cell").first();
    await patient(cell).toContainText(ours.toFixed(2));
    if (published !== null) await patient(cell).toContainText(published.toFixed(2));
  }
  await axe(page);
  // One reading of what the paper leaves open, and print alone.
  await page.getByRole("radio", { name: "60 packets, 2.048 Mbit/s by fit" }).check({ force: true });
  await patient(page.getByRole("columnheader", { name: "40 packets", exact: true })).toHaveCount(0);
  await page.getByRole("radio", { name: "Printed" }).check({ force: true });
  await patient(first).toHaveText("49.21 s");
  // Results are kept: a page that is loaded again has them.
  await page.reload();
  await page.getByRole("radio", { name: "Ours" }).check({ force: true });
  await patient(first).not.toContainText("…");
});

test("a claim has its verdict, its evidence and its readings", async ({ page, explorer }) => {
  test.setTimeout(120_000);
  await explorer.visit(page, "#/papers?paper=marchese-2001&tab=claims");
  const claim = page.getByRole("article", { name: "Claim 001-1" });
  await patient(claim).toContainText("On record: fails");
  await claim.getByRole("button", { name: /^Run what decides it/ }).click();
  await patient(claim.getByText("Shown by:", { exact: false })).toBeVisible({ timeout: 60_000 });
  await patient(claim.locator(".tag").first()).toHaveText("fails");
  await axe(page);
  await claim.getByRole("radio", { name: /^60 packets, 2.048 Mbit\/s by fit: / }).check({ force: true });
  await patient(page).toHaveURL(/r\.001-1=60/);
});

test("what is on record, and what no longer is as recorded, stands in the table", async ({ page, explorer }) => {
  // The server's own answer, as it would be if results had moved.
  const share = (x: number) => (100 * x).toFixed(1);
  let onRecord = "";
  await page.route("**/api/papers/open", async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as {
      tables: { table: { cells: Record<string, unknown>[][]; errors: Record<string, unknown>[] }; need: Record<string, unknown> }[];
    };
    for (const { table, need } of answer.tables) {
      need["is_there"] = true;
      const [first, second, third, ...rest] = table.cells.flat();
      Object.assign(first ?? {}, { ours: 50, verdict: "worse", known: false, changed: true });
      Object.assign(second ?? {}, { ours: 50, verdict: "worse", known: true, changed: false });
      Object.assign(third ?? {}, { ours: 50, verdict: "ok", known: false, changed: true });
      for (const cell of rest) Object.assign(cell, { ours: 50, verdict: "ok", known: false, changed: false });
      const [summary] = table.errors;
      Object.assign(summary ?? {}, { cells: 3, mean: 0.6, worst: 0.8, changed: true });
      const mean = (summary?.["recorded"] as { mean?: { value: number; band: number } } | null | undefined)?.mean;
      if (onRecord === "" && mean) onRecord = `mean ${share(mean.value)}% ±${share(mean.band)}`;
    }
    await route.fulfill({ response, json: answer });
  });
  await explorer.visit(page, "#/papers?paper=marchese-2001");
  const table = page.getByRole("region").getByRole("table").first();
  await patient(table.getByText("outside its tolerance, not as recorded")).toHaveCount(1);
  await patient(table.getByText("outside its tolerance, as recorded")).toHaveCount(1);
  await patient(table.getByText("within its tolerance, not as recorded")).toHaveCount(1);
  await patient(page.getByRole("status").filter({ hasText: "Not as recorded: 2 cells and 1 summary of errors." })).toBeVisible();
  const errors = page.getByRole("table", { name: /^Agreement with print/ });
  await patient(errors.getByRole("columnheader", { name: "recorded" })).toBeVisible();
  await patient(errors.getByRole("row").nth(1)).toContainText(onRecord);
  expect(onRecord).toMatch(/^mean [\d.]+% ±[\d.]+$/);
  await patient(page.getByText("NaN")).toHaveCount(0);
  await patient(errors.getByRole("row").nth(1)).toContainText("not as recorded");
  await axe(page);
  // Printed numbers alone have no verdicts.
  await page.getByRole("radio", { name: "Printed" }).check({ force: true });
  await patient(table.getByText("not as recorded")).toHaveCount(0);
});

test("Stop ends the runs of a paper", async ({ page, explorer }) => {
  // One that takes minutes.
  await explorer.visit(page, "#/papers?paper=marchese-2006&tab=claims");
  await page.getByRole("button", { name: "Run the whole paper" }).click();
  await patient(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  await patient(page.getByRole("button", { name: "Run the whole paper" })).toBeVisible();
});

test("fits a phone", async ({ page, explorer }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await explorer.visit(page, "#/papers?paper=marchese-2001");
  await patient(page.getByRole("row", { name: /^reference/ })).toBeAttached();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await axe(page);
});
