// What every test of the page has: the real command with a port, a token and a state
// folder of its own, and a browser whose every mistake fails the test.
//
//     import { axe, expect, test } from "./server";
//     test.use({ open: "/path/of/a/FILE/or/DIR" });   // optional
//     test("...", async ({ page, explorer }) => {
//       await explorer.visit(page, "#/sky");
//       await axe(page);
//     });
//
// BENTPIPE is the command (default: the one that cargo built); BENTPIPE_PAGE is the
// folder that it serves the page from (default: dist; empty: the page in the command).
// BENTPIPE_SPEED=1 holds measured times against their strict bars (see `expectBelow`).
import { AxeBuilder } from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("..", import.meta.url));
/** The command. */
export const COMMAND = resolve(WEB, process.env["BENTPIPE"] ?? "../../../target/debug/bentpipe");
const PAGE = process.env["BENTPIPE_PAGE"] ?? "dist";

/** The folder of the repository, for tests that open its files. */
export const REPOSITORY = resolve(WEB, "../../..");

/** A running `bentpipe explore`. */
export class Explorer {
  /** The address that it printed: it has the token in it. */
  address = "";
  /** What the page may not do and did. */
  readonly faults: string[] = [];
  readonly #allowed: RegExp[] = [];
  #process: ChildProcess | undefined;
  #wasKilled = false;

  constructor(
    readonly port: number,
    private readonly state: string,
    private readonly open: string | undefined,
  ) {}

  /** The origin of the page. */
  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts the command, on the same port and with the same state as before. */
  async start(): Promise<void> {
    const page = PAGE === "" ? [] : ["--page", resolve(WEB, PAGE)];
    const what = this.open === undefined ? [] : [this.open];
    const args = ["explore", "--no-open", "--port", String(this.port), ...page, ...what];
    const env = { ...process.env, XDG_STATE_HOME: this.state };
    const started = spawn(COMMAND, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#process = started;
    let errors = "";
    started.stderr.on("data", (text: Buffer) => (errors += text.toString()));
    const lines = createInterface({ input: started.stdout });
    const failed = new Promise<never>((_, reject) => {
      started.once("error", (error) => reject(new Error(`${COMMAND}: ${error.message}`)));
      started.once("exit", () => reject(new Error(`${COMMAND} ${args.join(" ")} ended\n${errors}`)));
    });
    failed.catch(() => undefined);
    const [line] = (await Promise.race([once(lines, "line"), failed])) as [string];
    this.address = line.trim();
  }

  /** Seconds of processor time that the command has used (proc(5)). */
  async cpuSeconds(): Promise<number> {
    const stat = await readFile(`/proc/${this.#process?.pid}/stat`, "utf8");
    // Behind the name in parentheses; utime and stime are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** Ends the command without a warning, as a crash does. */
  async kill(): Promise<void> {
    this.#wasKilled = true;
    await this.end();
  }

  /** Ends the command and starts it again. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Ends the command. */
  async end(): Promise<void> {
    const ended = this.#process;
    this.#process = undefined;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    const exit = once(ended, "exit");
    ended.kill("SIGKILL");
    await exit;
  }

  /** Opens a place of the page, such as `#/sky`, as if from the terminal. */
  async visit(page: Page, place = ""): Promise<void> {
    // Only another document loads the page again.
    if (page.url().startsWith(this.origin)) await page.goto("about:blank");
    // It leads to the view of the file that was opened, unless a place is named.
    await page.goto(place === "" ? this.address : this.address.replace(/#.*/, "") + place);
  }

  /** Lets the test's page print or do what matches. */
  allow(fault: RegExp): void {
    this.#allowed.push(fault);
  }

  /** Notes what a page may not do. */
  watch(page: Page): void {
    const note = (fault: string) => {
      if (!this.#allowed.some((allowed) => allowed.test(fault))) this.faults.push(fault);
    };
    page.on("pageerror", (error) => note(`uncaught: ${error.stack ?? error.message}`));
    page.on("crash", () => note("the page crashed"));
    page.on("console", (message) => {
      if (message.type() !== "error") return;
      const { url } = message.location();
      const text = message.text();
      // The browser prints each answer that is an error; the page shows those of the API.
      if (text.startsWith("Failed to load resource") && url.startsWith(`${this.origin}/api/`)) return;
      if (this.#wasKilled && text.includes("net::ERR_")) return;
      note(`console: ${text} (${url})`);
    });
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      const isOurs = origin === this.origin || ["data:", "blob:", "about:"].includes(protocol);
      if (!isOurs) note(`asked another host: ${request.url()}`);
    });
    page.on("websocket", (socket) => note(`opened a socket: ${socket.url()}`));
  }
}

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

interface Fixtures {
  /** The FILE or DIR that the command is given. */
  open: string | undefined;
  /** The command that serves the page. */
  explorer: Explorer;
}

export const test = base.extend<Fixtures>({
  open: [undefined, { option: true }],

  explorer: async ({ open }, use) => {
    const state = await mkdtemp(join(tmpdir(), "bentpipe-explore-"));
    const explorer = new Explorer(await freePort(), state, open);
    try {
      await explorer.start();
      await use(explorer);
    } finally {
      // The pages are closed after this: what they load in advance fails.
      await explorer.kill();
      await rm(state, { recursive: true, force: true });
    }
    expect(explorer.faults, "what the page may not do").toEqual([]);
  },

  // Every tab of the test is watched.
  context: async ({ context, explorer }, use) => {
    context.on("page", (page) => explorer.watch(page));
    await context.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => {
        console.error(`refused by the policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
      });
    });
    await use(context);
  },

  // A tab that shows the page.
  page: async ({ page, explorer }, use) => {
    await explorer.visit(page);
    await use(page);
  },
});

/** Fails if axe finds anything, in light and in dark; `within` are selectors. */
export async function axe(page: Page, ...within: string[]): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // No frame of the page is from another origin, so axe needs no page of its own to collect
    // from; the dark scheme differs in colours alone.
    let builder = new AxeBuilder({ page }).setLegacyMode(true);
    if (colorScheme === "dark") builder = builder.withRules(["color-contrast", "link-in-text-block"]);
    for (const selector of within) builder = builder.include(selector);
    const { violations } = await builder.analyze();
    const found = violations.flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id}: ${help}\n  ${node.html}\n  ${node.failureSummary ?? ""}`),
    );
    expect(found, `what axe finds in ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}

/**
 * How many times its bar a measured time may take on a machine that does other things: more than
 * sharing two cores with a handful of programs explains, and less than a stall, or than work that
 * grew with the number of things shown.
 */
const BUSY = 20;

/**
 * Holds a measured time against its bar where BENTPIPE_SPEED is 1, as `make bench-explore` sets
 * it, and against `BUSY` times the bar otherwise.
 */
export function expectBelow(measured: number, bar: number): void {
  const isAlone = process.env["BENTPIPE_SPEED"] === "1";
  expect(measured).toBeLessThan(isAlone ? bar : BUSY * bar);
}

export { expect };
