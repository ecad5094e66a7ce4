// Every view without a finding of axe: in light and dark, on a desk and on a phone. What a
// view shows later (results, dialogs) is checked by the tests of that view.
import { axe, expect, test } from "./server";

for (const name of ["link", "scenario", "sky", "studies", "papers"]) {
  for (const [place, width, height] of [
    ["a desk", 1280, 800],
    ["a phone", 360, 740],
  ] as const) {
    test(`axe finds nothing in ${name} on ${place}`, async ({ page, explorer }) => {
      await page.setViewportSize({ width, height });
      await explorer.visit(page, `#/${name}`);
      await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
      await expect(page.locator(".busy")).toHaveCount(0, { timeout: 30_000 });
      await axe(page);
    });
  }
}
