// The Scenario view on the real server: text, diagnostics, completion, help, picture, runs.
import { readFileSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { axe, expect, REPOSITORY, test, type Explorer } from "./server";

const GEO = readFileSync(join(REPOSITORY, "scenarios/geo.toml"), "utf8");

/** Opens a text by its address. */
async function open(page: Page, explorer: Explorer, text: string): Promise<void> {
  const word = deflateRawSync(Buffer.from(text)).toString("base64url");
  await explorer.visit(page, `#/scenario?text=${word}`);
  await expect(page.getByRole("textbox", { name: "Scenario, in TOML" })).toBeVisible();
}

/** The text of the editor. */
async function textOf(page: Page): Promise<string> {
  const lines = await page.locator(".cm-content .cm-line").allTextContents();
  return lines.join("\n");
}

async function isValid(page: Page): Promise<void> {
  await expect(page.locator(".scenario-state")).toHaveText("valid", { timeout: 15_000 });
}

/** Puts the cursor behind a text of the editor. */
async function goTo(page: Page, text: string, end: string): Promise<void> {
  const at = text.indexOf(end) + end.length;
  const lines = text.slice(0, at).split("\n");
  const editor = page.getByRole("textbox", { name: "Scenario, in TOML" });
  await editor.focus();
  await page.keyboard.press("Control+Home");
  for (let i = 1; i < lines.length; i++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Home");
  await page.keyboard.press("Home");
  for (let i = 0; i < (lines.at(-1)?.length ?? 0); i++) await page.keyboard.press("ArrowRight");
}

test("a scenario is opened, drawn, changed and run", async ({ page, explorer }) => {
  await explorer.visit(page, "#/scenario?example=geo");
  await isValid(page);
  for (const node of ["server", "gateway", "client"]) await expect(page.getByRole("button", { name: `Node ${node}` })).toBeVisible();
  const link = page.getByRole("button", { name: "Link satellite, 2 Mbit/s, 255.5 ms, between gateway and client" });
  await link.click({ force: true });
  const form = page.getByRole("region", { name: "link satellite" });
  await form.getByRole("textbox", { name: "rate", exact: true }).fill("5 Mbit/s");
  await form.getByRole("textbox", { name: "rate", exact: true }).press("Enter");
  await expect.poll(() => textOf(page)).toContain('[link.satellite]\nbetween = ["gateway", "client"]\nrate = "5 Mbit/s"');
  // The comments are where they were.
  expect(await textOf(page)).toContain("# Up to the satellite and down again.");
  await isValid(page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const results = page.getByRole("region", { name: "Results", exact: true });
  await expect(results.getByRole("heading", { level: 2 })).toContainText("geo, seed 1:");
  await expect(results.getByRole("region", { name: "Results by flow" }).first()).toContainText("download");
  await expect(results.getByRole("region", { name: "Results by link" })).toContainText("satellite.reverse");
  await expect(results.locator(".uplot")).toHaveCount(3);
  // One step of the history takes the edit of the picture back.
  await page.getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => textOf(page)).toBe(GEO);
  await expect(results).toContainText("The text was edited after this run.");
  await axe(page);
});

const MISTAKES: readonly [name: string, from: string, to: string, line: number, message: string, help: string][] = [
  ["a unit", '"2 Mbit/s"', '"2 Mbits"', 23, "unknown unit `Mbits`", "did you mean `2 Mbit/s`?"],
  ["no unit", 'rate = "2 Mbit/s"', "rate = 2", 23, "has no unit", "expected a rate above zero"],
  ["a key", "queue =", "queu =", 25, "has no key `queu`", "did you mean `queue`?"],
  ["a node", '["gateway", "client"]', '["gatway", "client"]', 22, "gatway", "did you mean `gateway`?"],
  ["a transport", '"mtsi"', '"mtsy"', 30, "mtsy", "did you mean `mtsi`?"],
  ["a kind", '"transfer"', '"transfr"', 31, "unknown application `transfr`", "did you mean `transfer`?"],
  ["a missing key", 'duration = "300 s"', "", 0, "has no `duration`", "simulated time after which the run ends"],
  ["a wrong type", "seed = 1", 'seed = "one"', 7, "expected a whole number, found a string", "at least 0"],
  ["TOML", 'rate = "10 Mbit/s"', 'rate = "10 Mbit/s', 16, "not TOML", 'expected `"`'],
  ["a key twice", 'rate = "10 Mbit/s"', 'rate = "10 Mbit/s"\nrate = "1 Mbit/s"', 17, "`rate` is given twice", ""],
  ["a word", '"not-counted"', '"not-count"', 32, "not-count", "did you mean `not-counted`?"],
  ["a table", "[link.lan]", "[lnk.lan]", 14, "has no key `lnk`", "did you mean `link`?"],
  ["a time of zero", '"300 s"', '"0 s"', 6, "a time of zero", "above zero"],
  ["no way", '["server", "gateway"]', '["server", "server"]', 15, "ends where it starts", "name two different nodes"],
];

for (const [name, from, to, line, message, help] of MISTAKES) {
  test(`a mistake is shown at its line, with help: ${name}`, async ({ page, explorer }) => {
    await open(page, explorer, GEO.replace(from, to));
    const problem = page.getByRole("list", { name: "What is wrong" }).getByRole("button").filter({ hasText: message }).first();
    await expect(problem).toContainText(help, { timeout: 15_000 });
    if (line > 0) {
      await expect(problem).toContainText(`${line}:`);
      await expect(page.locator(".cm-lint-marker-error").first()).toBeVisible();
    }
    await expect(page.getByRole("button", { name: "Run", exact: true })).toBeDisabled();
  });
}

test("a name that was almost right is put right by a button", async ({ page, explorer }) => {
  await open(page, explorer, GEO.replace('"mtsi"', '"mtsy"'));
  await page.locator(".cm-lintRange-error").first().hover();
  await page.getByRole("button", { name: 'Replace by "mtsi"' }).click();
  await isValid(page);
  expect(await textOf(page)).toBe(GEO);
});

test("keys, words and names are completed", async ({ page, explorer }) => {
  await open(page, explorer, GEO);
  await isValid(page);
  const options = page.getByRole("listbox");
  await goTo(page, GEO, 'queue = "100 packets"');
  await page.keyboard.type("\nchan");
  await expect(options.getByRole("option", { name: "channel" })).toBeVisible();
  await expect(options.getByRole("option", { name: "queue" })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await page.keyboard.type('nel = ');
  await page.keyboard.press("Control+Space");
  await expect(options.getByRole("option", { name: "gilbert-elliott" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.type('"per');
  await expect(options.getByRole("option", { name: "perfect" })).toBeVisible();
  await page.waitForTimeout(150);
  await page.keyboard.press("Enter");
  await expect.poll(() => textOf(page)).toContain('channel = "perfect"\n');
  await isValid(page);
  // Names of the text and of the program.
  await page.keyboard.press("Control+End");
  await page.keyboard.type('\n[flow.more]\nfrom = "');
  await expect(options.getByRole("option", { name: "gateway" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.type('client"\ntransport = "hyb');
  await expect(options.getByRole("option", { name: /^hybla/ }).first()).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.type('la"\n[node.far]\nterminal_of = "leo"\nplace = "Genoa');
  await expect(options.getByRole("option", { name: /Genoa, Italy/ })).toBeVisible();
});

test("help is shown on hover and by F1, in the words of the language", async ({ page, explorer }) => {
  await open(page, explorer, GEO);
  await isValid(page);
  await page.locator(".cm-line", { hasText: 'queue = "100 packets"' }).locator("span").first().hover();
  await expect(page.locator(".scenario-help")).toContainText("the waiting room; the packet in transmission does not count");
  await goTo(page, GEO, '\nhandshake = "not-cou');
  await page.keyboard.press("F1");
  await expect(page.locator(".scenario-f1")).toContainText("whether a SYN exchange comes first");
});

test("the network is edited in the picture, and the text follows", async ({ page, explorer }) => {
  await open(page, explorer, GEO);
  await isValid(page);
  const add = async (what: string) => {
    await page.getByRole("button", { name: `Add a ${what}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
  };
  await add("node");
  await expect.poll(() => textOf(page)).toContain("[node.client]\n[node.node]\n");
  // A link is drawn from node to node.
  const from = await page.getByRole("button", { name: "Node client" }).boundingBox();
  const to = await page.getByRole("button", { name: "Node node" }).boundingBox();
  if (from === null || to === null) throw new Error("the nodes are not drawn");
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(from.x, from.y + 40, { steps: 4 });
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 4 });
  await page.mouse.up();
  const dialog = page.getByRole("dialog", { name: "Add a link" });
  await expect(dialog.getByLabel("from")).toHaveValue("client");
  await expect(dialog.getByLabel("to", { exact: true })).toHaveValue("node");
  await dialog.getByLabel("name").fill("home");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect.poll(() => textOf(page)).toContain('[link.home]\nbetween = ["client", "node"]\nrate = ');
  await isValid(page);
  await add("flow");
  await isValid(page);
  await expect(page.getByRole("list", { name: "Flows" }).getByRole("button")).toHaveCount(2);
  // A new name is put wherever the old one was.
  await page.getByRole("button", { name: "Node gateway" }).click();
  const form = page.getByRole("region", { name: "node gateway" });
  await form.getByLabel("name", { exact: true }).fill("hub");
  await form.getByLabel("name", { exact: true }).press("Enter");
  await expect(page.getByRole("button", { name: "Node hub" })).toBeVisible();
  expect(await textOf(page)).not.toContain('"gateway"');
  await isValid(page);
  // The channel is chosen from its kinds.
  await page.getByRole("button", { name: /^Link satellite/ }).focus();
  await page.keyboard.press("Enter");
  const link = page.getByRole("region", { name: "link satellite" });
  await link.getByRole("combobox", { name: "channel", exact: true }).selectOption("uniform");
  await expect.poll(() => textOf(page)).toContain('channel = { kind = "uniform", packet_error_rate = ');
  await link.getByRole("textbox", { name: "packet_error_rate" }).fill("2%");
  await link.getByRole("textbox", { name: "packet_error_rate" }).press("Enter");
  await expect(page.getByRole("button", { name: /^Link satellite, .*loses 2%/ })).toBeVisible();
  await link.getByRole("button", { name: "Remove" }).click();
  await expect(page.getByRole("button", { name: /^Link satellite/ })).toHaveCount(0);
  // Seven edits are seven steps back.
  const undo = page.getByRole("button", { name: "Undo" });
  for (let i = 0; i < 7; i++) await undo.click();
  await expect.poll(() => textOf(page)).toBe(GEO);
});

test("everything is done with the keyboard", async ({ page, explorer }) => {
  await open(page, explorer, GEO);
  await isValid(page);
  const node = page.getByRole("button", { name: "Node client" });
  await node.focus();
  await page.keyboard.press("Enter");
  await expect(node).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByRole("region", { name: "node client" })).toBeVisible();
  await page.keyboard.press("Delete");
  await expect.poll(() => textOf(page)).not.toContain("[node.client]");
  expect(await textOf(page)).not.toContain("[link.satellite]");
  const editor = page.getByRole("textbox", { name: "Scenario, in TOML" });
  await editor.focus();
  await page.keyboard.press("Control+z");
  await expect.poll(() => textOf(page)).toBe(GEO);
  await isValid(page);
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("region", { name: "Results by link" })).toBeVisible();
  // The editor lets go of the focus.
  await editor.focus();
  await page.keyboard.press("Tab");
  await expect(editor).not.toBeFocused();
});

test("several runs have intervals, and a long one stops", async ({ page, explorer }) => {
  await open(page, explorer, GEO.replace('queue = "100 packets"', 'queue = "100 packets"\nchannel = { kind = "uniform", packet_error_rate = "1%" }'));
  await isValid(page);
  await page.getByLabel("Runs").fill("5");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const spread = page.getByRole("region", { name: "All runs" });
  await expect(spread).toContainText("95% interval");
  await expect(spread).toContainText(/\d to \d/);
  await open(page, explorer, GEO.replace("300 s", "100 h").replace('"2 Mbit/s"', '"200 Mbit/s"').replace('{ kind = "transfer", size = "3 MB" }', '"persistent"').replace('"10 Mbit/s"', '"500 Mbit/s"'));
  await isValid(page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("progressbar")).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByRole("button", { name: "Run", exact: true })).toBeVisible();
});

test("a text stays: in the address, and after a reload", async ({ page, explorer }) => {
  await explorer.visit(page, "#/scenario?example=geo");
  await isValid(page);
  await page.getByRole("textbox", { name: "Scenario, in TOML" }).focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# mine\n");
  // The address waits for the end of typing, which may be slow.
  const rests = async () => {
    const before = page.url();
    await page.waitForTimeout(800);
    return before.includes("text=") && page.url() === before;
  };
  await expect.poll(rests).toBe(true);
  await page.reload();
  await isValid(page);
  expect(await textOf(page)).toBe(`# mine\n${GEO}`);
});

test("an address that is entered while the view is open is followed", async ({ page, explorer }) => {
  await explorer.visit(page, "#/scenario?example=geo");
  await isValid(page);
  const word = deflateRawSync(Buffer.from(`# linked\n${GEO}`)).toString("base64url");
  await page.evaluate((hash) => (location.hash = hash), `#/scenario?text=${word}&name=linked`);
  await expect.poll(() => textOf(page)).toBe(`# linked\n${GEO}`);
  await expect(page.locator(".scenario-name")).toContainText("linked");
});

test("an address that is entered while an edit waits to be written there is followed", async ({ page, explorer }) => {
  await explorer.visit(page, "#/scenario?example=geo");
  await isValid(page);
  const word = deflateRawSync(Buffer.from(`# linked\n${GEO}`)).toString("base64url");
  // An edit, and within the same moment the address.
  await page.getByRole("textbox", { name: "Scenario, in TOML" }).focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# mine\n");
  await page.evaluate((hash) => (location.hash = hash), `#/scenario?text=${word}&name=linked`);
  await expect(page.locator(".scenario-name")).toContainText("linked");
  await page.waitForTimeout(1500);
  expect(await textOf(page)).toBe(`# linked\n${GEO}`);
});

test.describe("with a file", () => {
  let folder = "";
  test.use({
    open: async ({}, use) => {
      folder = await mkdtemp(join(tmpdir(), "bentpipe-scenario-"));
      await copyFile(join(REPOSITORY, "scenarios/geo.toml"), join(folder, "mine.toml"));
      await use(join(folder, "mine.toml"));
      await rm(folder, { recursive: true, force: true });
    },
  });

  test("a file is saved when that is asked for, and never over the work of others", async ({ page, explorer }) => {
    // However late the server says what the command was given.
    await page.route("**/api/hello", async (route) => {
      await new Promise((done) => setTimeout(done, 1500));
      await route.continue();
    });
    await explorer.visit(page, "#/scenario");
    await expect(page.locator(".scenario-name")).toContainText("mine.toml");
    await isValid(page);
    const file = join(folder, "mine.toml");
    const type = async (text: string) => {
      await page.getByRole("textbox", { name: "Scenario, in TOML" }).focus();
      await page.keyboard.press("Control+Home");
      await page.keyboard.type(text);
    };
    await type("# one\n");
    expect(await readFile(file, "utf8")).toBe(GEO);
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => readFile(file, "utf8")).toBe(`# one\n${GEO}`);
    await writeFile(file, `# another\n${GEO}`);
    await type("# two\n");
    await page.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "mine.toml was changed on disk" });
    await expect(dialog).toBeVisible();
    await axe(page);
    await dialog.getByRole("button", { name: "Load the file from disk" }).click();
    await expect.poll(() => textOf(page)).toBe(`# another\n${GEO}`);
    expect(await readFile(file, "utf8")).toBe(`# another\n${GEO}`);
  });
});

test("what is shown is shared as command, Python, picture and numbers", async ({ page, explorer, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await explorer.visit(page, "#/scenario?example=geo");
  await isValid(page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("region", { name: "Results by link" })).toBeVisible();
  const copied = async (item: string) => {
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("menuitem", { name: item }).click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  expect(await copied("As command")).toBe("bentpipe run geo.toml");
  const program = await copied("As Python");
  expect(program).toContain("bentpipe.Scenario(r'''");
  expect(program).toContain("outcome = bentpipe.run(scenario)");
  expect(await copied("As scenario")).toBe(GEO);
  for (const [item, start] of [
    ["Picture for a document", "<svg"],
    ["Picture for a slide", "\u{89}PNG"],
    ["Numbers", "flow,transport,"],
  ] as const) {
    await page.getByRole("button", { name: "Share" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: item }).click()]);
    const content = await readFile(await download.path(), "latin1");
    expect(content.trimStart().replace(/^<\?xml.*\?>\s*/, "").slice(0, start.length)).toBe(start);
  }
});

test("axe finds nothing in the view at work, and nothing is cut off on a phone", async ({ page, explorer }) => {
  await open(page, explorer, GEO.replace('"2 Mbit/s"', '"2 Mbits"'));
  await expect(page.getByRole("list", { name: "What is wrong" })).toBeVisible();
  await page.getByRole("button", { name: /^Link satellite/ }).click({ force: true });
  await axe(page);
  await page.getByRole("button", { name: "Open" }).click();
  await expect(page.getByRole("dialog")).toContainText("starlink");
  await axe(page);
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 360, height: 740 });
  await expect(page.locator(".scenario-stack")).toBeVisible();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wide).toBeLessThanOrEqual(0);
  await axe(page);
});
