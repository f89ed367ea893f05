import type { Reporter, TestModule, TestSpecification } from "vitest/node";

const everyMilliseconds = 5_000;

/** Says every few seconds how many files have run, where no terminal shows it. */
export default class Progress implements Reporter {
  #of = 0;
  #done = 0;
  #failed = 0;
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#of = specifications.length;
    let told = 0;
    this.#timer = setInterval(() => {
      if (this.#done > told) console.log(`${this.#done} of ${this.#of} files, ${this.#failed} failed`);
      told = this.#done;
    }, everyMilliseconds);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#done++;
    if (!module.ok()) this.#failed++;
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }
}
