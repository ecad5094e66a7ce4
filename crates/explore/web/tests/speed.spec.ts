// How soon the page is there.
import { expectBelow, test } from "./server";

// A recording takes time, too.
test.use({ trace: "off" });

test("the first paint comes within half a second", async ({ explorer, browser }) => {
  test.setTimeout(180_000);
  const times: number[] = [];
  for (let n = 0; n < 25; n += 1) {
    // With an empty cache, as on the first visit.
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(explorer.address);
    const time = await page.evaluate(async () => {
      const painted = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
      while (painted() === undefined) await new Promise((done) => setTimeout(done, 10));
      return painted() ?? 0;
    });
    times.push(time);
    await context.close();
  }
  times.sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? Infinity;
  console.log(`first paint: median ${median.toFixed(0)} ms of ${times.length}, slowest ${times.at(-1)?.toFixed(0)} ms`);
  expectBelow(median, 500);
});
