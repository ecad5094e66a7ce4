// The Link view on the real server: the answer is the one of the command, errors are at
// their fields, old work ends, the address has the state, and it is quick.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Locator, Page } from "@playwright/test";
import { axe, COMMAND, expect, test } from "./server";

const run = promisify(execFile);

/** A question that is answered in a moment. */
const QUICK = "#/link?size=100+kB&transport=cubic,bbr,bp_hybla&runs=3";

/** The same for the command. */
const QUICK_OPTIONS = ["--size", "100 kB", "--transport", "cubic,bbr,bp_hybla", "--runs", "3"];

interface Row {
  transport: string;
  pep: string;
  cells: { time_s: { mean: number } | null }[];
  others: { time_lost_share: number } | null;
}

interface Answer {
  verdict: { text: string[]; certainty: string };
  rows: Row[];
}

async function compare(options: string[]): Promise<Answer> {
  const { stdout } = await run(COMMAND, ["compare", ...options, "--json"], { maxBuffer: 1 << 26 });
  return JSON.parse(stdout) as Answer;
}

const rows = (page: Page): Locator => page.locator(".link-ranking [data-key]");
const verdict = (page: Page): Locator => page.getByRole("region", { name: "Verdict" });

/** Waits until all runs of the question are made. */
async function settled(page: Page): Promise<void> {
  await expect(verdict(page)).toHaveAttribute("aria-busy", "false", { timeout: 45_000 });
}

/** As the command prints a time. */
const decimal = (seconds: number) => seconds.toFixed(seconds < 1 ? 3 : seconds < 10 ? 2 : 1);

test("bars and words are those of the command", async ({ page, explorer }) => {
  for (const [place, options] of [
    [QUICK, QUICK_OPTIONS],
    [`${QUICK}&pep=none,split`, [...QUICK_OPTIONS, "--pep", "none,split"]],
  ] as const) {
    await explorer.visit(page, place);
    await settled(page);
    const answer = await compare([...options]);
    const [headline = "", ...words] = answer.verdict.text;
    await expect(verdict(page).getByRole("heading", { level: 1 })).toHaveText(headline);
    await expect(verdict(page)).toContainText(words.join(" ").replaceAll("`", ""));
    await expect(verdict(page)).toContainText(answer.verdict.certainty);
    const keys = await rows(page).evaluateAll((all) => all.map((row) => (row as HTMLElement).dataset["key"]));
    expect(keys).toEqual(answer.rows.map((row) => `${row.pep}/${row.transport}`));
    for (const [i, row] of answer.rows.entries()) {
      const mean = row.cells[0]?.time_s?.mean;
      expect(mean).toBeDefined();
      await expect(rows(page).nth(i).locator(".link-time")).toContainText(decimal(mean ?? 0));
    }
    // The bars are as long as the times say.
    const widths = await rows(page).evaluateAll((all) => all.map((row) => row.querySelector(".link-bar")?.getBoundingClientRect().width ?? 0));
    const times = answer.rows.map((row) => row.cells[0]?.time_s?.mean ?? 0);
    const scale = (widths[0] ?? 0) / (times[0] ?? 1);
    for (const [i, time] of times.entries()) expect(Math.abs((widths[i] ?? 0) - time * scale)).toBeLessThan(2);
  }
});

test("a field with a unit, a slider and the address are one", async ({ page, explorer }) => {
  await explorer.visit(page, QUICK);
  await settled(page);
  const rate = page.getByRole("textbox", { name: "Rate", exact: true });
  await expect(rate).toHaveValue("10 Mbit/s");
  await rate.fill("512 kbit/s");
  await rate.press("Enter");
  await expect(page).toHaveURL(/rate=512\+kbit%2Fs/);
  await settled(page);
  await expect(verdict(page)).toContainText("512 kbit/s");
  const slider = page.getByRole("slider", { name: "Rate", exact: true });
  await expect(slider).toHaveAttribute("aria-valuetext", "512 kbit/s");
  const low = Number(await slider.inputValue());
  // The server reads the text: bits of any spelling move the thumb.
  await rate.fill("1Gbps");
  await rate.press("Enter");
  await expect.poll(async () => Number(await slider.inputValue())).toBeGreaterThan(low);
  await page.reload();
  await expect(rate).toHaveValue("1Gbps");
  await page.goBack();
  await expect(rate).toHaveValue("512 kbit/s");
  await page.goBack();
  await expect(rate).toHaveValue("10 Mbit/s");
  await rate.fill("10 Mbit/s");
  await expect(page).not.toHaveURL(/rate=/);
});

test("what the server does not understand is said at the field", async ({ page, explorer }) => {
  await explorer.visit(page, QUICK);
  await settled(page);
  const rate = page.getByRole("textbox", { name: "Rate", exact: true });
  await rate.fill("fast");
  await expect(rate).toHaveAttribute("aria-invalid", "true");
  await expect(rate).toHaveAccessibleDescription(/expected a rate with its unit/);
  await axe(page);
  await rate.fill("1 Mbit/s");
  await expect(rate).not.toHaveAttribute("aria-invalid", "true");
  await settled(page);
});

test("a new question ends the work of the old one", async ({ page, explorer }) => {
  await explorer.visit(page, "#/link?rate=100+Mbit%2Fs&users=50&size=50+MB&runs=200");
  await expect(page.getByRole("textbox", { name: "Users", exact: true })).toHaveValue("50");
  await page.waitForTimeout(1500);
  await explorer.visit(page, QUICK);
  await settled(page);
  await page.waitForTimeout(500);
  const before = await explorer.cpuSeconds();
  await page.waitForTimeout(2000);
  expect((await explorer.cpuSeconds()) - before).toBeLessThan(0.5);
});

test("sizes are tabs, proxies are groups, a kept answer stays as outlines", async ({ page, explorer }) => {
  await explorer.visit(page, "#/link?size=20+kB,200+kB&transport=cubic,bbr&runs=2&pep=none,split");
  await settled(page);
  await expect(page.getByRole("tab")).toHaveText(["20 kB", "200 kB", "By size"]);
  await expect(page.locator(".link-pep")).toHaveCount(2);
  await page.getByRole("tab", { name: "20 kB" }).click();
  await expect(page).toHaveURL(/_size=0/);
  await page.getByRole("button", { name: "Keep to compare" }).click();
  await page.getByRole("textbox", { name: "Loss", exact: true }).fill("3% in bursts of 8 packets");
  await page.keyboard.press("Enter");
  await settled(page);
  await expect(page.locator(".link-was").first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Kept to compare" })).toContainText("3% in bursts of 8 packets");
  await expect(page.getByRole("slider", { name: "Burst" })).toHaveAttribute("aria-valuetext", "8 packets");
  await axe(page);
  await page.getByRole("button", { name: "Swap" }).click();
  await expect(page.getByRole("textbox", { name: "Loss", exact: true })).toHaveValue("0.1%");
  await page.reload();
  await expect(page.getByRole("region", { name: "Kept to compare" })).toBeVisible();
});

test("an orbit over a day has curves by the hour", async ({ page, explorer }) => {
  await explorer.visit(page, "#/link?orbit=iridium&from=Anchorage&to=Oslo&over=6+h&size=20+kB&transport=cubic,bbr&runs=12");
  await settled(page);
  const over = page.getByRole("region", { name: "By start time" });
  await expect(over.locator("canvas")).toHaveCount(2);
  // Both charts have one range of x, by keys.
  await over.locator(".chart-box").first().focus();
  await page.keyboard.press("ArrowRight");
  await expect(over.getByRole("status").first()).toContainText("cubic");
  await page.keyboard.press("+");
  await expect(over.getByRole("button", { name: "Show all" })).toHaveCount(2);
  await page.keyboard.press("0");
  await expect(over.getByRole("button", { name: "Show all" })).toHaveCount(0);
  await over.getByText("Numbers").first().click();
  await expect(over.getByRole("table").first().getByRole("row")).toHaveCount(13);
  await axe(page);
});

test("what is shared is the same question", async ({ page, explorer }) => {
  await explorer.visit(page, QUICK);
  await settled(page);
  const headline = await verdict(page).getByRole("heading", { level: 1 }).innerText();
  const made = await page.evaluate(async () => {
    const [, query = ""] = location.hash.split("?");
    const options = [...new URLSearchParams(query)].filter(([name]) => !name.startsWith("_"));
    const share = async (format: string) => {
      const body = JSON.stringify({ options, format, size: 0 });
      const answer = await fetch("/api/link/share", { method: "POST", headers: { "content-type": "application/json" }, body });
      return `${answer.status} ${await answer.text()}`;
    };
    return { command: await share("command"), python: await share("python"), svg: await share("svg"), csv: await share("csv"), report: await share("report"), png: await share("png") };
  });
  const { text } = JSON.parse(made.command.replace(/^200 /, "")) as { text: string };
  expect(text).toMatch(/^bentpipe compare /);
  const { stdout } = await run("sh", ["-c", text.replace("bentpipe", COMMAND)]);
  expect(stdout).toContain(headline);
  expect(made.python).toContain("bentpipe.compare");
  expect(made.svg).toContain("<svg");
  expect(made.csv).toContain("bp_hybla");
  expect(made.report).toContain(headline);
  expect(made.png).toMatch(/^200 /);
});

test("each preset is a question that the server takes", async ({ page, explorer }) => {
  await explorer.visit(page, QUICK);
  const failed = await page.evaluate(async () => {
    const { presets } = (await (await fetch("/api/link/presets")).json()) as { presets: { name: string; options: Record<string, string> }[] };
    const wrong: string[] = presets.length < 5 ? ["few"] : [];
    for (const { name, options } of presets) {
      const control = new AbortController();
      const body = JSON.stringify({ options: Object.entries(options), tab: "presets" });
      const response = await fetch("/api/link", { method: "POST", headers: { "content-type": "application/json" }, body, signal: control.signal });
      const first = await response.body?.pipeThrough(new TextDecoderStream()).getReader().read();
      if (!response.ok || first?.value?.includes('"begin"') !== true) wrong.push(`${name}: ${first?.value ?? response.status}`);
      control.abort();
    }
    return wrong;
  });
  expect(failed).toEqual([]);
});

test("answers of every shape fit 800 px", async ({ page, explorer }) => {
  await page.setViewportSize({ width: 800, height: 600 });
  const runs = "&transport=cubic,bbr&runs=2";
  for (const question of [
    `size=1+MB${runs}&loss=1%25`,
    `traffic=mixed&users=3&pep=none,split,gateway${runs}`,
    `size=20+kB,200+kB&users=2&queue=1+BDP,codel${runs}`,
  ]) {
    await explorer.visit(page, `#/link?${question}`);
    await settled(page);
    for (const summary of await page.locator(".link-answer summary").all()) await summary.click();
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(beyond, `the answer to ${question} is wider than the page by`).toBeLessThanOrEqual(0);
  }
});

test("works at 360 px, by keyboard, and axe finds nothing", async ({ page, explorer }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await explorer.visit(page, QUICK);
  await settled(page);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(360);
  await axe(page);
  // The parts of the question are folded, so that the answer is in sight.
  await expect(page.getByRole("heading", { level: 1 })).toBeInViewport();
  await page.locator(".link-group > summary").first().focus();
  await page.keyboard.press("Enter");
  const rate = page.getByRole("slider", { name: "Rate", exact: true });
  await rate.focus();
  const was = await rate.getAttribute("aria-valuetext");
  await page.keyboard.press("ArrowRight");
  await expect(rate).not.toHaveAttribute("aria-valuetext", was ?? "");
  await settled(page);
});
