// Counts the tests that passed at their second attempt only, names them, and fails the run when
// there are more than a busy machine explains.
import type { FullConfig, FullResult, Reporter, Suite, TestCase } from "@playwright/test/reporter";

/** Tests of a whole run that may need a second attempt. */
const MOST = 2;

export default class SecondAttempts implements Reporter {
  #tests: readonly TestCase[] = [];

  onBegin(_: FullConfig, suite: Suite): void {
    this.#tests = suite.allTests();
  }

  onEnd({ status }: FullResult): Promise<{ status: FullResult["status"] } | undefined> {
    const again = this.#tests.filter((test) => test.outcome() === "flaky");
    for (const test of again) {
      const why = test.results.find((result) => result.status !== "passed")?.error?.message ?? "";
      console.log(`second attempt: ${test.titlePath().slice(2).join(" › ")}: ${why.split("\n")[0]}`);
    }
    console.log(`${again.length} of ${this.#tests.length} tests needed a second attempt, of ${MOST} that may`);
    const failed = status === "passed" && again.length > MOST;
    return Promise.resolve(failed ? { status: "failed" } : undefined);
  }
}
