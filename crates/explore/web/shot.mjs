import { chromium } from "@playwright/test";
import { readFileSync } from "node:fs";
const address = readFileSync("/tmp/sky-server.log", "utf8").match(/http\S+/)[0];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const [, , ...shots] = process.argv;
for (const shot of shots) {
  const [name, hash, scheme = "light", width = "1280", height = "900"] = shot.split("|");
  const context = await browser.newContext({ viewport: { width: +width, height: +height }, colorScheme: scheme });
  const page = await context.newPage();
  page.on("console", (m) => m.type() === "error" && console.log(name, m.text()));
  page.on("pageerror", (e) => console.log(name, e.stack));
  await page.goto(address);
  await page.goto(address.replace(/\?.*/, "") + hash);
  await page.waitForSelector(".sky-stage", { timeout: 15000 }).catch((e) => console.log(String(e).slice(0, 200)));
  await page.waitForTimeout(2500);
  await page.screenshot({ path: `/tmp/skyshots/${name}.png`, fullPage: width === "360" || name.startsWith("full") });
  await context.close();
}
await browser.close();
