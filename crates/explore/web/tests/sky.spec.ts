// The view of satellites: what it shows is what the command computes, and it is shown fast.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { csv } from "../src/views/sky/csv";
import { Sky } from "../src/views/sky/model";
import type { Line, Question } from "../src/views/sky/types";
import { axe, COMMAND, expect, test } from "./server";
import { shell } from "./tle";

const LIGHT_KM_PER_MS = 299.792458;

/** The answer of the server to a question, as the page takes it. */
async function skyOf(page: Page, question: Question): Promise<Sky> {
  const text = await page.evaluate(async (body) => {
    const answer = await fetch("/api/sky", { method: "POST", headers: { "content-type": "application/json" }, body });
    return answer.text();
  }, JSON.stringify(question));
  let sky: Sky | undefined;
  for (const one of text.split("\n").filter((line) => line !== "")) {
    const line = JSON.parse(one) as Line;
    if (line.sky !== undefined) sky = new Sky(line.sky);
    else sky?.take(line);
  }
  if (sky === undefined) throw new Error(text);
  return sky;
}

/** Shows a place of the view and waits until all is planned. */
async function show(page: Page, explorer: { visit: (page: Page, place: string) => Promise<void> }, place: string): Promise<void> {
  await explorer.visit(page, place);
  await expect(page.locator(".sky-stage canvas").first()).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole("heading", { name: /so far$/ })).toHaveCount(0, { timeout: 30_000 });
}

const fact = (page: Page, name: string) => page.locator(`[data-fact=${name}]`);

const QUESTIONS: readonly Question[] = [
  { orbit: "iridium", from: "Berkeley", to: "Boston", hours: 6 },
  { orbit: "teledesic", from: "Berlin", to: "New York", hours: 6 },
  { orbit: "starlink", from: "Berlin", to: "New York", hours: 6 },
  { orbit: "geo", from: "Berlin", to: "Nairobi", hours: 1 },
  { orbit: "walker", from: "Oslo", to: "Rome", hours: 3, pattern: "60: 240/12/5", altitude_km: 1000, shape: "delta" },
  { orbit: "file", from: "Berlin", to: "Madrid", hours: 3, file: { name: "mine.tle", text: shell(12, 12, 60, 14.2) } },
];

for (const question of QUESTIONS) {
  test(`positions of ${question.orbit} make the delays that were planned`, async ({ page }) => {
    const sky = await skyOf(page, question);
    let compared = 0;
    for (let at = 1; at < sky.until; at += 97) {
      const leg = sky.legAt(at);
      const delay = sky.delayOf(leg, at);
      if (leg?.path == null || delay === undefined) continue;
      sky.go(at);
      const places = leg.path.map((stop) => sky.placeOf(stop) ?? [0, 0, 0]);
      let km = 0;
      for (let i = 1; i < places.length; i++) {
        const [a, b] = [places[i - 1]!, places[i]!];
        km += Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!);
      }
      // Planned delays are within 10 us a link; positions of a file are samples.
      const allowed = 0.01 * leg.path.length + (question.orbit === "file" ? 0.02 * leg.path.length : 0);
      expect(Math.abs(km / LIGHT_KM_PER_MS - delay), `at ${at} s over ${leg.path.join(" ")}`).toBeLessThan(allowed);
      // Links of the path are up on the picture as well.
      for (let i = 2; i < leg.path.length - 1; i++) {
        const ends = [leg.path[i - 1]!, leg.path[i]!];
        let isUp = false;
        for (let link = 0; link < sky.up.length; link++) {
          const joins = ends.includes(sky.ends[2 * link]!) && ends.includes(sky.ends[2 * link + 1]!);
          if (joins && sky.up[link] === 1) isUp = true;
        }
        expect(isUp, `link ${ends.join(" to ")} at ${at} s`).toBe(true);
      }
      compared++;
    }
    expect(compared).toBeGreaterThan(20);
  });
}

test("links are the same whether time goes forward or back", async ({ page }) => {
  const sky = await skyOf(page, { orbit: "teledesic", from: "Berlin", to: "New York", hours: 2 });
  const times = [0, 1000, 3600, 7100];
  const state = () => `${sky.ends.join()} ${sky.up.join()}`;
  const forward = times.map((at) => (sky.go(at), state()));
  const back = [...times].reverse().map((at) => (sky.go(at), state()));
  expect(back.reverse()).toEqual(forward);
  expect(new Set(forward).size).toBe(times.length);
});

test("paths and handovers are those of bentpipe map", async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), "bentpipe-sky-"));
  try {
    for (const orbit of ["iridium", "starlink"]) {
      const sky = await skyOf(page, { orbit, from: "Berlin", to: "New York", hours: 2 });
      const file = join(folder, `${orbit}.toml`);
      await writeFile(file, sky.header.scenario);
      const { stdout } = await promisify(execFile)(COMMAND, ["map", file, "--json"], { maxBuffer: 1 << 26 });
      const way = (JSON.parse(stdout) as { ways: [MapWay] }).ways[0];
      const millis = (seconds: number) => Math.round(seconds * 1000);
      expect(sky.handovers.map((one) => millis(one.at_s))).toEqual(way.handovers.map((one) => millis(one.at_s)));
      expect(sky.legs.map((leg) => millis(leg.from_s))).toEqual(way.paths.map((leg) => millis(leg.from_s)));
      const names = (path: readonly number[] | null) => path?.filter((stop) => stop >= 0).map((stop) => `sky[${sky.nameOf(stop)}]`);
      expect(sky.legs.map((leg) => names(leg.path))).toEqual(way.paths.map((leg) => leg.path?.slice(1, -1)));
      expect(sky.statistics?.delay_mean_s).toBeCloseTo(way.one_way_delay_mean_s, 6);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("delay and handovers as CSV", async ({ page }) => {
  const sky = await skyOf(page, { orbit: "iridium", from: "Berlin", to: "New York", hours: 1 });
  const rows = csv(sky).trimEnd().split("\n");
  expect(rows[0]).toBe("time_s,what,one_way_delay_ms,hops,satellites,terminal");
  const cells = rows.slice(1).map((row) => row.split(","));
  expect(cells.every((row) => row.length === 6)).toBe(true);
  expect(cells.filter((row) => row[1] === "handover").length).toBe(sky.handovers.length);
  const times = cells.map((row) => Number(row[0]));
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

interface MapWay {
  readonly handovers: readonly { at_s: number }[];
  readonly paths: readonly { from_s: number; path: readonly string[] | null }[];
  readonly one_way_delay_mean_s: number;
}

test("the main path: satellites, handovers, time, projections", async ({ page, explorer }) => {
  await show(page, explorer, "#/sky?orbit=iridium&hours=6");
  await expect(fact(page, "delay")).toHaveText(/^\d+\.\d\d ms$/);
  await expect(fact(page, "path")).toHaveText(/^Berlin – .* – New York$/);
  // From handover to handover: the clock stands where it was announced.
  const next = (await fact(page, "next").textContent())?.slice(0, 8) ?? "";
  await page.getByRole("button", { name: "Next handover" }).click();
  await expect(page.locator(".sky-clock")).toHaveText(next);
  await expect(fact(page, "handovers")).toHaveText("1");
  await page.keyboard.press("n");
  await page.keyboard.press("p");
  await expect(page.locator(".sky-clock")).toHaveText(next);
  // What is seen is in the address.
  await expect(page).toHaveURL(/_t=\d/);
  await page.reload();
  await expect(page.locator(".sky-clock")).toHaveText(next);
  // Time goes on when it plays.
  await page.getByRole("button", { name: "Play" }).click();
  await expect(page.locator(".sky-clock")).not.toHaveText(next);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Map", { exact: true }).click();
  await expect(page.locator(".sky-stage-map")).toBeVisible();
  // The picture is not empty, and differs from that of another time.
  const picture = () =>
    page
      .locator(".sky-stage canvas")
      .nth(1)
      .evaluate((canvas: HTMLCanvasElement) => [...canvas.toDataURL()].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 1_000_003, 7));
  const before = await picture();
  await page.keyboard.press("n");
  await expect.poll(picture).not.toBe(before);
});

test("cities: completion, coordinates, a click on the map, and what is none", async ({ page, explorer }) => {
  await show(page, explorer, "#/sky?orbit=iridium&hours=1&_p=map");
  const to = page.getByRole("combobox", { name: "To" });
  await to.fill("san fr");
  await expect(page.getByRole("option", { name: /San Francisco, California/ })).toBeVisible();
  await to.press("ArrowDown");
  await to.press("Enter");
  await expect(fact(page, "path")).toHaveText(/– San Francisco$/);
  await to.fill("48.1, 11.6");
  await to.press("Enter");
  await expect(page).toHaveURL(/to=48\.1/);
  await expect(fact(page, "path")).toHaveText(/48\.1/);
  await to.fill("Atlantiss");
  await to.press("Enter");
  await expect(page.getByRole("alert")).toContainText("unknown place Atlantiss");
  await to.fill("Madrid");
  await to.press("Enter");
  await expect(fact(page, "path")).toHaveText(/– Madrid$/);
  await page.getByRole("button", { name: "Choose where data comes from on the map" }).click();
  // A click where Cairo is, as the camera has it when it rests.
  await page.waitForTimeout(800);
  const stage = page.locator(".sky-stage canvas").nth(1);
  const box = await stage.boundingBox();
  const at = new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get("_at")?.split(",").map(Number);
  const [longitude, latitude] = [at?.[0] ?? 0, at?.[1] ?? 0];
  if (box === null) throw new Error("no picture");
  const scale = Math.max(box.width / 360, box.height / 180);
  const room = Math.max(0, 90 - box.height / 2 / scale);
  const middle = Math.min(room, Math.max(-room, latitude));
  const x = box.width / 2 + (31.24 - longitude) * scale;
  await stage.click({ position: { x, y: box.height / 2 - (30.05 - middle) * scale } });
  await expect(page).toHaveURL(/from=Cairo/);
  await expect(fact(page, "path")).toHaveText(/^Cairo/);
});

test("a file of TLE is dropped: a good one, a bad one", async ({ page, explorer }) => {
  await show(page, explorer, "#/sky?orbit=iridium&hours=1");
  const drop = async (name: string, text: string) => {
    const data = await page.evaluateHandle(
      ([name, text]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([text], name));
        return transfer;
      },
      [name, text] as const,
    );
    await page.locator(".sky").dispatchEvent("drop", { dataTransfer: data });
  };
  await drop("mine.tle", shell(10, 12, 60, 14.2));
  await expect(page.getByRole("heading", { name: /120 satellites of mine\.tle with links/ })).toBeVisible();
  await expect(page.getByText(/form a grid/)).toBeVisible();
  const broken = shell(3, 3, 60, 14.2).split("\n");
  broken[4] = broken[4]?.replace(/.$/, "x") ?? "";
  await drop("broken.tle", broken.join("\n"));
  await expect(page.getByText(/broken\.tle, line 5: the checksum/)).toBeVisible();
  await drop("nothing.txt", "hello\n");
  await expect(page.getByText(/nothing\.txt, line 1/)).toBeVisible();
  // Several thousand: fewer hours, and it says so.
  await drop("many.tle", shell(60, 50, 53, 15.1));
  await expect(page.getByRole("heading", { name: /3000 satellites of many\.tle/ })).toBeVisible({ timeout: 40_000 });
  await page.getByRole("combobox", { name: "Duration" }).selectOption("48");
  await expect(page.getByText(/too many for more/)).toBeVisible({ timeout: 40_000 });
});

test("a download has its handovers on the curve, and the globe goes with the cursor", async ({ page, explorer }) => {
  await show(page, explorer, "#/sky?orbit=iridium&hours=2&_size=20+MB");
  await page.getByRole("button", { name: "Start a download at this time" }).click();
  const panel = page.getByRole("region", { name: "A download over these satellites" });
  await expect(panel.getByRole("row", { name: /bbr/ })).toBeVisible({ timeout: 30_000 });
  await expect(panel.getByText(/handovers? until the last one ends/)).toBeVisible();
  const clock = page.locator(".sky-clock");
  const before = await clock.textContent();
  await panel.locator(".chart-box").first().hover({ position: { x: 300, y: 60 } });
  await expect(clock).not.toHaveText(before ?? "");
  await page.locator("#main").getByRole("textbox", { name: "Size" }).fill("much");
  await page.getByRole("button", { name: "Start a download at this time" }).click();
  await expect(panel.getByRole("alert")).toBeVisible();
});

test("places that see no common satellite are told so", async ({ page, explorer }) => {
  await explorer.visit(page, "#/sky?orbit=geo&from=Wellington&to=Madrid&hours=1");
  await expect(fact(page, "delay")).toHaveText("no path", { timeout: 20_000 });
  await expect(page.getByText("No satellite is ever above the mask of both places at once.")).toBeVisible();
});

test("what is shown can be shared as a command, a scenario, a picture and numbers", async ({ page, explorer }) => {
  await show(page, explorer, "#/sky?orbit=iridium&hours=1");
  await expect(page.getByText("bentpipe compare --orbit iridium --from Berlin --to 'New York'")).toBeVisible();
  await expect(page.getByRole("link", { name: "Compare transports over this path" })).toHaveAttribute("href", "#/link?orbit=iridium&from=Berlin&to=New+York");
  await page.getByRole("link", { name: "Open as a scenario" }).click();
  await expect(page).toHaveURL(/#\/scenario\?text=/);
  await expect(page.locator(".cm-content")).toContainText("[constellation.sky]");
  const svg = await page.evaluate(async () => {
    const sky = { orbit: "iridium", from: "Berlin", to: "New York", hours: 1 };
    const body = JSON.stringify({ sky, at_s: 60 });
    const answer = await fetch("/api/sky/picture", { method: "POST", headers: { "content-type": "application/json" }, body });
    return ((await answer.json()) as { svg: string }).svg;
  });
  expect(svg).toContain("<svg");
  expect(svg).toContain("ms one way");
});

test("axe finds nothing, the keyboard reaches all, and 360 px are enough", async ({ page, explorer }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await show(page, explorer, "#/sky?orbit=iridium&hours=2");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(360);
  await axe(page, "main");
  await page.setViewportSize({ width: 1280, height: 900 });
  await axe(page, "main");
  const stage = page.getByRole("application");
  await stage.focus();
  await stage.press("ArrowRight");
  await stage.press("+");
  await expect(page).toHaveURL(/_at=[^&]*1\.25/);
  await page.getByRole("slider", { name: "Time" }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.locator(".sky-clock")).toHaveText("00:00:10");
  await page.keyboard.press("Space");
  await expect(page.getByRole("button", { name: "Pause" })).toBeVisible();
  await page.keyboard.press("Space");
});
