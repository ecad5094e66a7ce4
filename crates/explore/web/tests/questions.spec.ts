// The five questions that `bentpipe compare` answers in the guide, asked by hand: fields set
// as a person would, the verdict read, and held against what the command prints.
import type { Page } from "@playwright/test";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { COMMAND, expect, test } from "./server";

const run = promisify(execFile);

interface Question {
  title: string;
  /** What the guide types. */
  options: Readonly<Record<string, string>>;
  /** What a hand does. */
  ask: (page: Page) => Promise<void>;
}

const QUESTIONS: readonly Question[] = [
  {
    title: "which TCP do servers run, whose users sit behind a satellite",
    options: {},
    ask: async () => undefined,
  },
  {
    title: "the same for my link",
    options: { rate: "2 Mbit/s", rtt: "560 ms", loss: "1%", queue: "100 packets", size: "3 MB" },
    ask: async (page) => {
      await type(page, "Rate", "2 Mbit/s");
      await type(page, "RTT", "560 ms");
      await type(page, "Loss", "1%");
      await type(page, "Queue", "100 packets");
      await type(page, "Size", "3 MB");
    },
  },
  {
    title: "does a proxy help",
    options: { pep: "none,split", transport: "cubic,bbr" },
    ask: async (page) => {
      await type(page, "Transports", "cubic,bbr");
      await page.getByRole("checkbox", { name: "split", exact: true }).check();
    },
  },
  {
    title: "does BBR hurt CUBIC beside it",
    options: { users: "6", beside: "cubic", transport: "cubic,bbr", size: "2 MB" },
    ask: async (page) => {
      await type(page, "Users", "6");
      await type(page, "Size", "2 MB");
      await type(page, "Transports", "cubic,bbr");
      await page.getByText("Others on the link").click();
      await type(page, "Half of the users run", "cubic");
    },
  },
  {
    title: "what does a link that moves change",
    options: { orbit: "iridium", from: "Anchorage", to: "Oslo", transport: "cubic,bbr", runs: "6" },
    ask: async (page) => {
      await page.getByRole("combobox", { name: "Path" }).selectOption("iridium");
      await type(page, "Server in", "Anchorage");
      await type(page, "Users in", "Oslo");
      await type(page, "Transports", "cubic,bbr");
      await page.getByText("Hosts and runs").click();
      await type(page, "Runs of each", "6");
    },
  },
];

for (const { title, options, ask } of QUESTIONS) {
  test(title, async ({ page, context, explorer }) => {
    test.setTimeout(300_000);
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: explorer.origin });
    await ask(page);
    for (const [name, value] of Object.entries(options)) {
      await expect.poll(() => new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get(name), name).toBe(value);
    }

    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const printed = await run(COMMAND, ["compare", ...args, "--json"], { maxBuffer: 64 << 20 });
    const answer = JSON.parse(printed.stdout) as Answer;

    const verdict = page.getByRole("region", { name: "Verdict" });
    await expect(verdict.getByRole("heading", { level: 1 })).toHaveText(answer.verdict.text[0] ?? "", { timeout: 240_000 });
    await expect(verdict).toHaveAttribute("aria-busy", "false", { timeout: 240_000 });
    await expect(verdict.getByRole("heading", { level: 1 })).toHaveText(answer.verdict.text[0] ?? "");
    await expect(verdict).toContainText(answer.verdict.text.slice(1).join(" ").replaceAll("`", ""));

    // What Share copies asks the same.
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("menuitem", { name: "As command" }).click();
    await expect(page.getByText("Copied the command.")).toBeVisible();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/^bentpipe compare/);
    for (const name of Object.keys(options)) expect(copied).toContain(`--${name} `);
    expect(copied.match(/ --/g) ?? []).toHaveLength(Object.keys(options).length);
  });
}

/** What is read of `bentpipe compare --json`. */
interface Answer {
  verdict: { text: string[] };
}

/** Types into a field, looks until the server has answered, and presses Enter. */
async function type(page: Page, label: string, text: string): Promise<void> {
  const field = page.getByRole("textbox", { name: label, exact: true }).or(page.getByRole("combobox", { name: label, exact: true }));
  await field.fill(text);
  await page.waitForTimeout(500);
  await field.press("Enter");
}
