import { defineConfig } from "vitest/config";

/** The tests of an area alone: a mutant survives if none of these notices it. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: JSON.parse(process.env.MUTATION_TESTS ?? "[]"),
    testTimeout: 120_000,
    setupFiles: "test/fresh.ts",
  },
});
