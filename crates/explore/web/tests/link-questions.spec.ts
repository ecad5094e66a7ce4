// Questions with several queues, several numbers of users, a mix and a fade: the answer is the
// one of the command.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { axe, COMMAND, expect, test } from "./server";

const run = promisify(execFile);

const verdict = (page: Page) => page.getByRole("region", { name: "Verdict", exact: true });

async function settled(page: Page): Promise<void> {
  await expect(verdict(page)).toHaveAttribute("aria-busy", "false", { timeout: 45_000 });
}

interface Answer {
  verdict: { text: string[]; switch_on_queue: { commands: string[] } };
  rows: { queue: string; transport: string }[];
}

async function compare(options: string[]): Promise<Answer> {
  const { stdout } = await run(COMMAND, ["compare", ...options, "--json"], { maxBuffer: 1 << 26 });
  return JSON.parse(stdout) as Answer;
}

test("queues are compared, and the router's lines are there", async ({ page, explorer }) => {
  const question = "#/link?size=300+kB&rate=2+Mbit/s&rtt=60+ms&users=4&transport=cubic&runs=4&queue=3+BDP";
  await explorer.visit(page, question);
  await settled(page);
  await page.getByRole("button", { name: /^Compare with codel/ }).click();
  await expect(page.getByRole("textbox", { name: "Queues" })).toHaveValue("3 BDP,codel,fq-codel,pie,red");
  await settled(page);
  const options = ["--size=300 kB", "--rate=2 Mbit/s", "--rtt=60 ms", "--users=4", "--transport=cubic", "--runs=4"];
  const answer = await compare([...options, "--queue=3 BDP,codel,fq-codel,pie,red"]);
  expect(answer.rows).toHaveLength(5);
  await expect(verdict(page).getByRole("heading", { level: 1 })).toHaveText(answer.verdict.text[0] ?? "");
  await expect(page.locator(".link-ranking [data-key]")).toHaveCount(5);
  const last = answer.verdict.switch_on_queue.commands.at(-1);
  if (last !== undefined) {
    await page.getByText("How to switch it on").click();
    await expect(verdict(page)).toContainText(last);
  }
  await axe(page);
});

test("numbers of users have a verdict each", async ({ page, explorer }) => {
  await explorer.visit(page, "#/link?size=60+kB&transport=cubic,bbr&runs=2&users=1,3");
  await settled(page);
  await page.getByRole("tab", { name: "By users" }).click();
  const table = page.getByRole("region", { name: "Verdicts by the number of users" });
  const three = await compare(["--size=60 kB", "--transport=cubic,bbr", "--runs=2", "--users=3"]);
  await expect(table.getByRole("row").nth(2)).toContainText(three.verdict.text[0] ?? "", { timeout: 45_000 });
  await page.getByRole("tab", { name: "3 users", exact: true }).click();
  await expect(page).toHaveURL(/_users=3/);
  await expect(verdict(page).getByRole("heading", { level: 1 })).toHaveText(three.verdict.text[0] ?? "");
  await axe(page);
});

test("a mix is chosen and changed", async ({ page, explorer }) => {
  await explorer.visit(page, "#/link?size=100+kB&transport=cubic&runs=1&rate=20+Mbit/s");
  await settled(page);
  await page.getByLabel("Traffic", { exact: true }).selectOption({ label: "a mix in per cent" });
  const mix = page.getByRole("textbox", { name: "Mix" });
  await expect(mix).toHaveValue("web 60%,video 30%,download 10%");
  await mix.fill("web 50%,call 60%");
  await mix.press("Enter");
  await expect(page.getByText("the shares come to 110%")).toBeVisible();
  await mix.fill("download 50%,call 50%");
  await mix.press("Enter");
  await settled(page);
  await expect(verdict(page)).toContainText("50% in a call");
});

test("a fade is chosen, and its modem with it", async ({ page, explorer }) => {
  await explorer.visit(page, "#/link?size=1+MB&transport=cubic&runs=2");
  await settled(page);
  await expect(page.getByLabel("ModCod")).toHaveCount(0);
  await page.getByText("Rain fade").click();
  await page.getByRole("button", { name: "10 dB for 30 s" }).click();
  await expect(page.getByRole("textbox", { name: "Fade" })).toHaveValue("10 dB for 30 s");
  await expect(page.getByRole("combobox", { name: "ModCod" })).toHaveValue("16APSK 3/4");
  await expect(page.getByRole("textbox", { name: "Margin" })).toHaveAttribute("placeholder", "1 dB");
  await settled(page);
  const options = ["--size=1 MB", "--transport=cubic", "--runs=2", "--fade=10 dB for 30 s"];
  const answer = await compare(options);
  await expect(verdict(page).getByRole("heading", { level: 1 })).toHaveText(answer.verdict.text[0] ?? "");
  // What a fade alone has goes with it, for the path of satellites has its own.
  await page.getByRole("combobox", { name: "Coding" }).selectOption("ccm");
  await expect(page).toHaveURL(/coding=ccm/);
  await page.getByRole("combobox", { name: "Coding" }).selectOption("acm");
  await expect(page).not.toHaveURL(/coding=/);
  await page.getByRole("combobox", { name: "Path" }).selectOption("geo");
  await expect(page).not.toHaveURL(/fade=/);
  await expect(page.getByText("Rain fade")).toHaveCount(0);
});
