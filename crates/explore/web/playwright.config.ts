// Tests of the page in Debian's Chromium, on the real command.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "tests",
  timeout: 120_000,
  // The server computes what most tests wait for, on a machine that may be slow and busy.
  expect: { timeout: 20_000 },
  fullyParallel: false,
  workers: 2,
  forbidOnly: true,
  // A browser on a busy machine misses a moment now and then. What passed at the second attempt
  // only is counted, and more than a few of them fail the run.
  retries: 1,
  reporter: [["list"], ["./tests/second-attempts.ts"]],
  outputDir: "../../../target/playwright",
  use: {
    browserName: "chromium",
    launchOptions: {
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      // No name has an address: what asks another host fails, and the test with it.
      args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
    },
    trace: "retain-on-failure",
  },
});
