// Draws the pictures of docs/explorer.md again, into docs/images/explorer:
//
//     cargo build -p bentpipe-cli --features explore
//     (cd crates/explore/web && npm ci && npm run build)
//     node docs/explorer_figures.mjs [NAME...]
//
// BENTPIPE is the command (default: target/debug/bentpipe), CHROMIUM the browser.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { crc32, deflateSync, inflateSync } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const web = join(root, "crates/explore/web");
const command = resolve(process.env.BENTPIPE ?? join(root, "target/debug/bentpipe"));
const run = promisify(execFile);
const { chromium } = createRequire(join(web, "package.json"))("@playwright/test");

/** Waits for the end of all work that a view shows. */
const calm = async (page) => {
  await page.waitForFunction(() => document.querySelector("[aria-busy=true], .busy") === null, undefined, { timeout: 240_000 });
  await page.waitForTimeout(600);
};

/** The study of the guide's page 5 and its results, in a folder of its own. */
async function study() {
  const folder = await mkdtemp(join(tmpdir(), "bentpipe-figures-"));
  const guide = await readFile(join(root, "docs/guide/5-a-study.md"), "utf8");
  const files = [...guide.matchAll(/^```sh\n(cat > [\s\S]*?\nEOF\n)/gm)].map(([, text]) => text).join("");
  await run("sh", ["-c", files], { cwd: folder });
  await run(command, ["study", "queues.toml"], { cwd: folder });
  return folder;
}

/** The pictures: what the command opens, where the page goes, what a hand does there. */
const FIGURES = [
  {
    name: "link",
    at: "#/link",
    height: 900,
  },
  {
    name: "detail",
    at: "#/link",
    height: 1000,
    hand: async (page) => {
      await page.getByRole("button", { name: "bbr", exact: true }).click();
      const detail = page.locator(".detail");
      await detail.waitFor();
      await calm(page);
      await detail.evaluate((element) => scrollTo(0, element.getBoundingClientRect().top + scrollY - 60));
    },
  },
  {
    name: "scenario",
    open: () => join(root, "scenarios/geo.toml"),
    at: "#/scenario",
    height: 1000,
    hand: async (page) => {
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.waitForTimeout(1500);
      // Running leads to the results; the picture is of the editor.
      await page.evaluate(() => scrollTo(0, 0));
      await page.waitForTimeout(500);
    },
  },
  { name: "sky", at: "#/sky", dark: true, height: 1000 },
  {
    name: "studies",
    open: study,
    at: "#/studies?study=results%2Fqueues",
    hand: async (page) => {
      await page.getByRole("tab", { name: "Figure" }).click();
    },
  },
  {
    name: "papers",
    at: "#/papers?paper=marchese-2001",
    height: 900,
    hand: async (page) => {
      await page.getByRole("button", { name: /^Run this table/ }).click();
      await page.waitForTimeout(1500);
    },
  },
];

async function draw(browser, figure) {
  const state = await mkdtemp(join(tmpdir(), "bentpipe-figures-"));
  const args = ["explore", "--no-open", "--port", "0", "--page", join(web, "dist")];
  if (figure.open !== undefined) args.push(await figure.open());
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
    await page.goto(address.trim().replace(/#.*/, "") + figure.at);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await calm(page);
    await figure.hand?.(page);
    await calm(page);
    await writeFile(join(root, "docs/images/explorer", `${figure.name}.png`), indexed(await page.screenshot()));
    await page.close();
    console.log(figure.name);
  } finally {
    server.kill();
    await rm(state, { recursive: true, force: true });
  }
}

/** The PNG with at most 256 colours, a third of its size: the most frequent ones, else the nearest. */
function indexed(png) {
  const { width, height, pixels } = decoded(png);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  // Of colours that hardly differ the most frequent one stands for all.
  const bins = new Map();
  for (const [colour, count] of counts) {
    const bin = colour & 0xf8f8f8;
    const had = bins.get(bin) ?? { colour, most: 0, count: 0 };
    if (count > had.most) Object.assign(had, { colour, most: count });
    had.count += count;
    bins.set(bin, had);
  }
  const palette = [...bins.values()].sort((a, b) => b.count - a.count).slice(0, 256).map(({ colour }) => colour);
  const places = new Map();
  for (const colour of counts.keys()) places.set(colour, nearest(colour, palette));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = places.get(pixels[y * width + x]);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const data = deflateSync(rows, { level: 9 });
  return Buffer.concat([png.subarray(0, 8), chunk("IHDR", head), chunk("PLTE", colours), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

function nearest(colour, palette) {
  let [best, least] = [0, Infinity];
  palette.forEach((other, place) => {
    const [r, g, b] = [16, 8, 0].map((shift) => ((colour >> shift) & 255) - ((other >> shift) & 255));
    const far = 2 * r * r + 4 * g * g + 3 * b * b;
    if (far < least) [best, least] = [place, far];
  });
  return best;
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, "ascii"), data]);
  const all = Buffer.alloc(body.length + 8);
  all.writeUInt32BE(data.length, 0);
  body.copy(all, 4);
  all.writeUInt32BE(crc32(body), body.length + 4);
  return all;
}

/** The pixels, as 0xRRGGBB, of a PNG as Chromium writes it: 8 bits of RGB or RGBA. */
function decoded(png) {
  const parts = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("ascii", at + 4, at + 8) === "IDAT") parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const [width, height, step] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] === 6 ? 4 : 3];
  const data = inflateSync(Buffer.concat(parts));
  const wide = width * step;
  const rows = Buffer.alloc(height * wide);
  for (let y = 0; y < height; y++) {
    const kind = data[y * (wide + 1)];
    for (let x = 0; x < wide; x++) {
      const at = y * wide + x;
      const left = x < step ? 0 : rows[at - step];
      const up = y === 0 ? 0 : rows[at - wide];
      const corner = x < step || y === 0 ? 0 : rows[at - wide - step];
      rows[at] = data[y * (wide + 1) + 1 + x] + [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind];
    }
  }
  const pixels = new Uint32Array(width * height).map((_, at) => (rows[at * step] << 16) | (rows[at * step + 1] << 8) | rows[at * step + 2]);
  return { width, height, pixels };
}

function paeth(left, up, corner) {
  const guess = left + up - corner;
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(guess - value));
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

await mkdir(join(root, "docs/images/explorer"), { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const wanted = process.argv.slice(2);
for (const figure of FIGURES) {
  if (wanted.length === 0 || wanted.includes(figure.name)) await draw(browser, figure);
}
await browser.close();
