// How soon the Link view answers a slider: from the event to the first bar on the screen,
// with the page's own marks.
import { expect, expectBelow, test } from "./server";

// The recorder would be measured as well.
test.use({ trace: "off" });

const CHANGES = 50;

test("the first bars come within 300 ms of a change", async ({ page, explorer }) => {
  test.setTimeout(600_000);
  await explorer.visit(page, "#/link");
  await expect(page.locator(".link-ranking [data-key]").first()).toBeVisible({ timeout: 30_000 });
  const slider = page.getByRole("slider", { name: "Rate", exact: true });
  const places = Number(await slider.getAttribute("max"));
  const times: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    // All over the middle of the scale, about 0.6 to 16 Mbit/s, no place twice.
    const place = Math.round(places * (0.35 + (0.3 * ((i * 7) % CHANGES)) / CHANGES));
    await page.evaluate(() => performance.clearMeasures("link:first"));
    await slider.evaluate((input: HTMLInputElement, value) => {
      input.value = String(value);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }, place);
    await page.waitForFunction(() => performance.getEntriesByName("link:first").length > 0, undefined, { timeout: 20_000 });
    times.push(await page.evaluate(() => performance.getEntriesByName("link:first")[0]?.duration ?? Infinity));
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * CHANGES)] ?? Infinity;
  console.log(`first bars: median ${at(0.5).toFixed(0)} ms, 90th percentile ${at(0.9).toFixed(0)} ms`);
  expectBelow(at(0.5), 300);
});
