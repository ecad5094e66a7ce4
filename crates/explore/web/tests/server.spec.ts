// The page comes from the command alone, and the command from this machine alone.
import { expect, test } from "./server";

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
