// What one transport does over time: curves, words, packets, two side by side.
import type { Page } from "@playwright/test";
import { axe, expect, test } from "./server";

const QUESTION = "rate=2+Mbit/s&rtt=511+ms&queue=60+packets&size=3+MB&loss=0.5%25&runs=4&transport=cubic,bbr,vegas";

interface Run {
  run: {
    seed: number;
    time_s: number;
    losses: { t: number; count: number; cause: string }[];
    resent: { t: number; count: number }[];
    timeouts: { t: number; count: number }[];
    lost_acks: { t: number; count: number }[];
    acts: { title: string; from: number; to: number; text: string[] }[];
    spent: { title: string; time_s: number }[];
    series: Record<string, { t: number[]; v: number[] }>;
  };
}

/** The lines that the server answers a question about a run with. */
async function lines(page: Page, row: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>[]> {
  return page.evaluate(
    async ([question, row, more]) => {
      const options = [...new URLSearchParams(question)];
      const [pep, transport] = row.split("/");
      const response = await fetch("/api/link/curves", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ options, row: { pep, transport }, ...more }),
      });
      return (await response.text()).trim().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    [QUESTION, row, more] as const,
  );
}

const sum = (marks: { count: number }[]) => marks.reduce((all, mark) => all + mark.count, 0);

test("a run is drawn and told, and both say the same", async ({ page, explorer }) => {
  await explorer.visit(page, `#/link?${QUESTION}&_row=none/cubic`);
  const panel = page.getByRole("region", { name: "cubic over time" });
  await expect(panel.getByRole("heading", { name: "Why" })).toBeVisible({ timeout: 40_000 });
  const [first, second] = await lines(page, "none/cubic");
  const { run } = first as unknown as Run;
  expect(second).toHaveProperty("band");
  // The words of each act are on the page, with the sums of the marks.
  for (const act of run.acts) {
    await expect(panel.getByText(act.text.join(" "), { exact: true })).toBeVisible();
    const lost = sum(run.losses.filter((loss) => loss.t >= act.from && loss.t < act.to));
    if (lost > 1) expect(act.text.join(" ")).toContain(`${lost} segments are lost`);
  }
  for (const [cause, words] of [["channel", "by errors of the channel"], ["queue_full", "at the full queue"]]) {
    const lost = sum(run.losses.filter((loss) => loss.cause === cause));
    if (lost > 1) await expect(panel.locator(".detail-losses")).toContainText(`${lost} segments lost ${words}`);
  }
  for (const chart of ["Congestion window", "Queue before the link", "Round-trip time", "Received in order"]) {
    await expect(panel.getByRole("figure", { name: chart })).toBeVisible();
  }
});

test("an act zooms all charts, by the keyboard as well", async ({ page, explorer }) => {
  await explorer.visit(page, `#/link?${QUESTION}&_row=none/cubic`);
  const act = page.getByRole("button", { name: /^Slow start/ }).first();
  await act.focus({ timeout: 40_000 });
  await page.keyboard.press("Enter");
  await expect(act).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("button", { name: "Show the whole run" }).click();
  await expect(act).toHaveAttribute("aria-pressed", "false");
});

test("two transports side by side", async ({ page, explorer }) => {
  await explorer.visit(page, `#/link?${QUESTION}&_row=none/cubic&_beside=none/vegas`);
  const panel = page.getByRole("region", { name: "cubic over time" });
  await expect(panel.getByRole("heading", { name: "cubic beside vegas" })).toBeVisible({ timeout: 40_000 });
  await panel.getByRole("tab", { name: "vegas" }).click();
  await expect(panel.getByRole("region", { name: "Why: vegas" })).toBeVisible();
  await expect(panel.getByRole("figure", { name: "Congestion window" }).getByText("vegas: cwnd").first()).toBeVisible();
});

test("packet by packet: forward, back, and to the next loss", async ({ page, explorer }) => {
  await explorer.visit(page, `#/link?${QUESTION}&_row=none/cubic&_at=0`);
  const steps = page.getByRole("region", { name: "Packet by packet" });
  const words = steps.locator("[aria-live]");
  const stage = steps.getByRole("group");
  await stage.focus({ timeout: 40_000 });
  await expect(words).toContainText("handshake");
  // SYN and SYN-ACK, each sent and arrived.
  for (let i = 0; i < 4; i += 1) await page.keyboard.press("ArrowRight");
  await expect(words).toContainText("Sender sends segment 1");
  await expect(words).toContainText("the connection has just been opened");
  const there = await words.innerText();
  await page.keyboard.press("ArrowRight");
  await expect(words).toContainText("segment 2");
  await page.keyboard.press("ArrowLeft");
  expect(await words.innerText()).toBe(there);
  const [first] = await lines(page, "none/cubic");
  const loss = (first as unknown as Run).run.losses[0];
  if (loss === undefined) throw new Error("nothing is lost in 3 MB");
  await explorer.visit(page, `#/link?${QUESTION}&_row=none/cubic&_at=${Math.max(0, loss.t - 0.3)}`);
  await stage.focus({ timeout: 40_000 });
  await page.keyboard.press("n");
  await expect(words).toContainText(/is lost|again|timer expires/);
  await axe(page, ".detail");
});

test("the next loss is shown at once, however far away it is", async ({ page, explorer }) => {
  await explorer.visit(page, `#/link?${QUESTION}&_row=none/cubic&_at=0`);
  const steps = page.getByRole("region", { name: "Packet by packet" });
  const words = steps.locator("[aria-live]");
  const [next, previous] = ["Next loss", "Previous loss"].map((name) => steps.getByRole("button", { name }));
  if (next === undefined || previous === undefined) throw new Error("two buttons");
  await expect(words).toContainText("handshake", { timeout: 40_000 });
  await steps.getByLabel("Show").selectOption("0.25");
  await expect(previous).toBeDisabled();
  const [line] = await lines(page, "none/cubic");
  const { run } = line as unknown as Run;
  const marks = [...run.losses, ...run.resent, ...run.timeouts, ...run.lost_acks].map((mark) => mark.t);
  const first = Math.min(...marks);
  expect(first, "the first loss is many windows away").toBeGreaterThan(3 * 0.25 * 0.511);
  await next.click();
  await expect(words).toContainText(`at ${first.toFixed(6)} s`);
  await expect(words).toContainText(/is lost|again|timer expires/);
  await expect(previous).toBeDisabled();
  // On to the second, and back.
  await next.click();
  await expect(words).not.toContainText(`at ${first.toFixed(6)} s`);
  await expect(words).toContainText(/is lost|again|timer expires/);
  await previous.click();
  await expect(words).toContainText(`at ${first.toFixed(6)} s`);
});

test("the parts of the time add up to it", async ({ page, explorer }) => {
  await explorer.visit(page, `#/link?${QUESTION}&_row=none/cubic`);
  const panel = page.getByRole("region", { name: "cubic over time" });
  await expect(panel.getByText(/^Where the time went: handshake .*, slow start /)).toBeVisible({ timeout: 40_000 });
  const [line] = await lines(page, "none/cubic");
  const { run } = line as unknown as Run;
  const spent = run.spent.reduce((all, part) => all + part.time_s, 0);
  expect(Math.abs(spent - run.time_s)).toBeLessThan(1e-6);
});

test("it fits a phone", async ({ page, explorer }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await explorer.visit(page, `#/link?${QUESTION}&_row=none/bbr&_at=1`);
  await expect(page.getByRole("heading", { name: "Packet by packet" })).toBeVisible({ timeout: 40_000 });
  await expect(page.getByRole("region", { name: "Packet by packet" }).getByRole("img")).toBeVisible();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wide, "the page does not scroll sideways").toBeLessThanOrEqual(0);
});

test("what is not there is said", async ({ page }) => {
  const [missing] = await lines(page, "none/hybla");
  expect(JSON.stringify(missing)).toContain("is not compared here");
  const [user] = await lines(page, "none/cubic", { user: 2 });
  expect(JSON.stringify(user)).toContain("users are 1 to 1");
});
