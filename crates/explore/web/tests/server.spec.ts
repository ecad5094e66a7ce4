// The page comes from the command alone, and the command from this machine alone.
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { axe, expect, test } from "./server";

const VIEWS = ["link", "scenario", "sky", "studies", "papers"];

/** A question that is answered in a moment. */
const QUICK = "#/link?size=100+kB&runs=3";

/** Waits until the view of a link has its answer. */
async function answered(page: Page): Promise<void> {
  const verdict = page.getByRole("region", { name: "Verdict" });
  await expect(verdict).toHaveAttribute("aria-busy", "false", { timeout: 45_000 });
}

test("the address that the command prints shows the page", async ({ page, explorer }) => {
  await expect(page.getByRole("navigation").first()).toBeVisible();
  expect(page.url(), "the token is not left in the address").not.toContain("token");
  expect(page.url().startsWith(explorer.origin)).toBe(true);
});

test("without the token there is no page", async ({ explorer, browser }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const answer = await page.goto(explorer.origin);
  expect(answer?.status()).toBe(401);
  await expect(page.locator("body")).toContainText("bentpipe explore");
  await context.close();
});

test("a file on the disk leads to the page, as the command opens the browser", async ({ explorer, context }) => {
  explorer.allow(/file:/);
  const folder = await mkdtemp(join(tmpdir(), "bentpipe-link-"));
  const file = join(folder, "explore.html");
  await writeFile(file, `<meta http-equiv="refresh" content="0;url=${explorer.address}">`);
  const page = await context.newPage();
  await page.goto(`file://${file}`);
  await expect(page.getByRole("navigation").first()).toBeVisible();
  expect(page.url()).not.toContain("token");
  // And so does an address that somebody kept.
  await writeFile(file, `<a href="${explorer.origin}/#/papers">kept</a>`);
  await page.goto(`file://${file}`);
  await page.getByText("kept").click();
  await expect(page).toHaveURL(/#\/papers/);
  await expect(page.getByRole("navigation").first()).toBeVisible();
  await rm(folder, { recursive: true });
});

test("no view asks another host", async ({ page, explorer, context }) => {
  const asked = new Set<string>();
  context.on("request", (request) => asked.add(new URL(request.url()).origin));
  for (const view of VIEWS) {
    await explorer.visit(page, view === "link" ? QUICK : `#/${view}`);
    await expect(page.locator("main")).toBeVisible();
    // A view that still computes has asked for what it is made of by then.
    await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => undefined);
  }
  // Others fail the test by themselves (`Explorer.watch`), and have no address either.
  expect([...asked].filter((origin) => origin !== "null")).toEqual([explorer.origin]);
  const failed = await page.evaluate(() =>
    fetch("https://example.org/").then(
      () => "answered",
      () => "refused",
    ),
  );
  expect(failed).toBe("refused");
  explorer.allow(/example\.org/);
  expect(explorer.faults.splice(0).some((fault) => fault.includes("example.org"))).toBe(true);
});

test("the page has no address of another host in it", async () => {
  const assets = fileURLToPath(new URL("../dist/assets", import.meta.url));
  for (const name of await readdir(assets)) {
    const text = await readFile(`${assets}/${name}`, "utf8");
    const loaded = text.match(/(?:src|href|url\(|import\(|fetch\()\s*=?\s*["'`]?https?:\/\/[^"'`)\s]+/g) ?? [];
    expect(loaded, name).toEqual([]);
  }
});

test("two tabs are two pages", async ({ page, explorer, context }) => {
  const tabs = new Set<string>();
  context.on("request", (request) => {
    const tab = request.headers()["x-tab"];
    if (tab !== undefined) tabs.add(tab);
  });
  const other = await context.newPage();
  // Two questions at the same time: each tab has the answer to its own.
  await explorer.visit(page, `${QUICK}&rate=3+Mbit/s&transport=cubic,bbr`);
  await explorer.visit(other, `${QUICK}&rate=30+Mbit/s&transport=cubic,hybla,vegas`);
  for (const [tab, rate, rows] of [
    [page, /rate=3\+/, 2],
    [other, /rate=30\+/, 3],
  ] as const) {
    await tab.bringToFront();
    await answered(tab);
    await expect(tab).toHaveURL(rate);
    await expect(tab.locator(".link-ranking [data-key]")).toHaveCount(rows);
  }
  await expect.poll(() => tabs.size).toBeGreaterThanOrEqual(2);
  // One that is closed takes nothing from the other.
  await other.close();
  await page.reload();
  await expect(page).toHaveURL(/rate=3/);
  await expect(page.getByRole("navigation").first()).toBeVisible();
  await explorer.kill();
  await explorer.start();
  const third = await context.newPage();
  await third.goto(explorer.origin);
  await expect(third.getByRole("navigation").first()).toBeVisible();
});

test("a server that dies is said to be gone, and the page goes on when it is back", async ({ page, explorer }) => {
  await explorer.visit(page, `${QUICK}&rate=3+Mbit/s&transport=cubic,bbr`);
  await expect(page.getByRole("navigation").first()).toBeVisible();
  const notice = page.getByRole("alert").filter({ hasText: "bentpipe explore" });
  await expect(notice).toHaveCount(0);
  await page.evaluate(() => document.body.setAttribute("data-same", "page"));

  await explorer.kill();
  await expect(notice).toContainText(`bentpipe explore --port ${explorer.port}`, { timeout: 20_000 });
  await axe(page, '[role="alert"]');

  await explorer.start();
  await expect(notice).toHaveCount(0, { timeout: 20_000 });
  // Nothing was loaded again, and what it showed is in the address still.
  await expect(page.locator("body")).toHaveAttribute("data-same", "page");
  await expect(page).toHaveURL(/rate=3/);
  await answered(page);
  await expect(page.locator(".link-ranking [data-key]")).toHaveCount(2);
});
