// The frame: navigation, colours, sharing, the tour, keys, sizes.
import type { Page } from "@playwright/test";
import { axe, expect, test } from "./server";

const VIEWS = ["Link", "Scenario", "Sky", "Studies", "Papers"] as const;

test("each view has an address, a title and a mark in the navigation", async ({ page, explorer }) => {
  const views = page.getByRole("navigation", { name: "Views" });
  for (const name of VIEWS) {
    await views.getByRole("link", { name }).click();
    await expect(page).toHaveURL(new RegExp(`#/${name.toLowerCase()}`));
    await expect(page).toHaveTitle(new RegExp(`^${name}: .* – bentpipe$`));
    await expect(views.locator("[aria-current=page]")).toHaveText(name);
    await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
  }
  await page.goBack();
  await expect(page).toHaveTitle(/^Studies/);
  await explorer.visit(page, "#/nowhere");
  await expect(page.getByRole("heading", { name: "There is no view “nowhere”" })).toBeVisible();
});

test("the chosen colours stay, and begin before the first paint", async ({ page, explorer }) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  const light = await ground();
  await page.getByRole("button", { name: /^Colours/ }).click();
  await page.getByRole("menuitem", { name: "Dark" }).click();
  const dark = await ground();
  expect(dark).not.toBe(light);
  await explorer.visit(page);
  expect(await ground()).toBe(dark);
  // The script in the head does it, whatever the rest of the page does.
  await page.route("**/main-*.js", (route) => route.abort());
  explorer.allow(/main-.*\.js/);
  await page.reload();
  expect(await ground()).toBe(dark);
});

test("words and series stand out from what is behind them, in both schemes", async ({ page }) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [front, back, least] of PAIRS) {
      const ratio = await contrast(page, front, back);
      expect(ratio, `${front} on ${back} in ${colorScheme}`).toBeGreaterThanOrEqual(least);
    }
  }
});

test("Share copies a link without the token, and says so", async ({ page, context, explorer }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: explorer.origin });
  await explorer.visit(page, "#/papers?tab=claims");
  await share(page, "Link to this");
  await expect(page.getByText("Copied the link.")).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain("#/papers?tab=claims");
  expect(copied).not.toContain("token");
});

test("Share shows the text, selected, where the browser does not let the page copy", async ({ page }) => {
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
  });
  await share(page, "Link to this");
  const dialog = page.getByRole("dialog", { name: "Copy the link" });
  await expect(dialog.getByLabel("Text to copy")).toHaveValue(/^http:/);
  const selected = await dialog.getByLabel("Text to copy").evaluate((field: HTMLTextAreaElement) => field.selectionEnd - field.selectionStart);
  expect(selected).toBeGreaterThan(10);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
});

test("the menus work by keyboard and give the focus back", async ({ page }) => {
  const opener = page.getByRole("button", { name: "Share" });
  await opener.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menuitem", { name: "Link to this" })).toBeFocused();
  // The menu grows until the answer is there.
  await expect(page.getByRole("menuitem", { name: "Report in one file" })).toBeVisible();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("menuitem", { name: "Link to this" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(opener).toBeFocused();
  await expect(page.getByRole("menu", { name: "Share" })).toBeHidden();
});

test("keys lead to the views and to the list of keys, but not while one types", async ({ page, explorer }) => {
  await explorer.visit(page, "#/papers");
  await page.keyboard.press("3");
  await expect(page).toHaveTitle(/^Sky/);
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keyboard" });
  await expect(keys).toBeVisible();
  await axe(page);
  await page.keyboard.press("5");
  await expect(page).toHaveTitle(/^Sky/);
  await page.keyboard.press("Escape");
  await expect(keys).toBeHidden();
  await page.keyboard.press("1");
  const field = page.getByRole("textbox").first();
  await field.focus();
  await page.keyboard.type("5");
  await expect(page).toHaveTitle(/^Link/);
});

test("the first stop of the Tab key skips to the view", async ({ page }) => {
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the view" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
  await expect(page).toHaveTitle(/^Link/);
});

test("the Tab key goes through the frame and out of it", async ({ page, explorer }) => {
  await explorer.visit(page, "#/nowhere");
  const stops: string[] = [];
  for (let press = 0; press < 12; press++) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
    if (stops.includes(name)) break;
    stops.push(name);
  }
  expect(stops.slice(0, 7)).toEqual(["Skip to the view", "bentpipe explorer, to the start", ...VIEWS]);
  expect(stops).toContain("Share");
});

test("the tour leads through the views, can be ended, and is remembered", async ({ page, explorer }) => {
  test.slow();
  await explorer.visit(page, "#/papers?tab=claims");
  await page.getByRole("button", { name: /^Tour/ }).click();
  const tour = page.getByRole("dialog").filter({ hasText: "1 of 8" });
  await expect(tour).toBeVisible();
  await expect(page.getByRole("button", { name: "Next" })).toBeFocused();
  for (const [before, view] of ["Link", "Link", "Link", "Scenario", "Sky", "Studies", "Papers", "Link"].entries()) {
    const step = before + 1;
    await expect(page.getByText(`${step} of 8`)).toBeVisible();
    await expect(page).toHaveTitle(new RegExp(`^${view}:`));
    const box = await page.locator(".tour").boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
    if (step === 2) await axe(page, ".tour");
    await page.keyboard.press(step % 2 === 0 ? "ArrowRight" : "Enter");
  }
  await expect(page.locator(".tour")).toBeHidden();
  // One is back where one was.
  await expect(page).toHaveURL(/tab=claims/);
  await explorer.visit(page);
  await expect(page.getByRole("button", { name: /^Tour/ })).toBeHidden();
  await page.getByRole("button", { name: "Help", exact: true }).click();
  await page.getByRole("menuitem", { name: "A tour of one minute" }).click();
  await page.keyboard.press("Escape");
  await expect(page.locator(".tour")).toBeHidden();
});

for (const [width, height] of [
  [360, 740],
  [800, 600],
  [1280, 800],
  [3840, 2160],
] as const) {
  test(`every view fits ${width} px`, async ({ page, explorer }) => {
    await page.setViewportSize({ width, height });
    for (const name of VIEWS) {
      await explorer.visit(page, `#/${name.toLowerCase()}`);
      await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(beyond, `${name} is wider than the page by`).toBeLessThanOrEqual(0);
      await expect(page.getByRole("link", { name, exact: true })).toBeInViewport();
      await expect(page.getByRole("button", { name: "Help" , exact: true })).toBeInViewport({ ratio: 1 });
    }
  });
}

async function share(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Tokens, what they lie on, and the contrast of WCAG 2.2 AA: words 4.5, graphics 3. */
const PAIRS: readonly [string, string, number][] = [
  ...["bg", "surface", "raised", "sunken", "accent-soft"].flatMap((back): [string, string, number][] => [
    ["text", back, 4.5],
    ["muted", back, 4.5],
    ["accent", back, 4.5],
  ]),
  ...["good", "warn", "bad"].flatMap((front): [string, string, number][] => [
    [front, "surface", 4.5],
    [front, "bg", 4.5],
    [front, `${front}-soft`, 4.5],
    ["text", `${front}-soft`, 4.5],
    ["muted", `${front}-soft`, 4.5],
  ]),
  ["accent-text", "accent", 4.5],
  ["focus", "bg", 3],
  ["focus", "surface", 3],
  ["edge", "surface", 3],
  ["edge", "raised", 3],
  ["edge", "bg", 3],
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((index): [string, string, number] => [`c${index}`, "surface", 3]),
];

/** The contrast of two tokens (WCAG 2.2, relative luminance). */
async function contrast(page: Page, front: string, back: string): Promise<number> {
  return page.evaluate(
    ([one, other]) => {
      const probe = document.createElement("span");
      document.body.append(probe);
      const light = (name: string | undefined) => {
        probe.style.color = `var(--${name ?? ""})`;
        const parts = getComputedStyle(probe).color.match(/[\d.]+/g) ?? [];
        const linear = parts.slice(0, 3).map((part) => {
          const value = Number(part) / 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
      };
      const [a, b] = [light(one), light(other)];
      probe.remove();
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    },
    [front, back],
  );
}
