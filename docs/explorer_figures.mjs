// Draws the pictures of docs/explorer.md anew, into docs/images/explorer:
//
//     cargo build -p bentpipe-cli --features explore
//     (cd crates/explore/web && npm ci && npm run build)
//     node docs/explorer_figures.mjs [NAME...]
//
// BENTPIPE is the command (default: target/debug/bentpipe), CHROMIUM the browser.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const web = join(root, "crates/explore/web");
const { chromium } = createRequire(join(web, "package.json"))("@playwright/test");

/** Waits for the end of all work that a view shows. */
const calm = async (page) => {
  await page.waitForFunction(() => document.querySelector("[aria-busy=true], .busy") === null, undefined, { timeout: 240_000 });
  await page.waitForTimeout(600);
};

/** The pictures: what the command opens, where the page goes, what a hand does there. */
const FIGURES = [
  { name: "link", at: "#/link" },
];

async function draw(browser, figure) {
  const state = await mkdtemp(join(tmpdir(), "bentpipe-figures-"));
  const command = process.env.BENTPIPE ?? join(root, "target/debug/bentpipe");
  const args = ["explore", "--no-open", "--port", "0", "--page", join(web, "dist")];
  if (figure.open !== undefined) args.push(join(root, figure.open));
  const server = spawn(command, args, { env: { ...process.env, XDG_STATE_HOME: state }, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [address] = await once(createInterface({ input: server.stdout }), "line");
    const page = await browser.newPage({
      viewport: { width: 1280, height: figure.height ?? 800 },
      colorScheme: figure.dark === true ? "dark" : "light",
      reducedMotion: "reduce",
    });
    // The tour is offered once; it is not part of a picture.
    await page.addInitScript(() => localStorage.setItem("bentpipe.tour", "seen"));
    await page.goto(address.trim() + figure.at);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await calm(page);
    await figure.hand?.(page);
    await calm(page);
    await page.screenshot({ path: join(root, "docs/images/explorer", `${figure.name}.png`) });
    await page.close();
    console.log(figure.name);
  } finally {
    server.kill();
    await rm(state, { recursive: true, force: true });
  }
}

await mkdir(join(root, "docs/images/explorer"), { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const wanted = process.argv.slice(2);
for (const figure of FIGURES) {
  if (wanted.length === 0 || wanted.includes(figure.name)) await draw(browser, figure);
}
await browser.close();
