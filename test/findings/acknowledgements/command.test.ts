/** Many findings by the command line; test/endpoints/acknowledge-breaches.test.ts has those of few. */
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Flags } from "../../../bin/admin/command.ts";
import { findingCommands } from "../../../bin/admin/commands/finding.ts";
import { useWorkers } from "../../scanning/in-process-workers.ts";
import { readFindings, runWorkers, seedFindings } from "./findings.ts";

useWorkers();

const acknowledge = (flags: Flags) =>
  findingCommands["finding acknowledge"]?.run(flags, { outputs: {}, isLocal: true });

test("more than 100 findings want --yes where nobody can be asked", async () => {
  const { org, findingIds } = await seedFindings({ emailCount: 11, perEmail: 10, furtherBlocks: 0 });
  const count = findingIds.length;
  expect(count).toBe(110);
  const all = { org: String(org), all: "", reason: "From before we came" };
  const acknowledged = async () =>
    (await readFindings(org)).filter(({ acknowledgment }) => acknowledgment !== undefined).length;
  await expect(acknowledge(all)).rejects.toThrow(
    "This acknowledges 110 findings: if that is meant, add --yes.",
  );
  await runWorkers();
  expect(await acknowledged()).toBe(0);

  let isRunning = true;
  const running = acknowledge({ ...all, yes: "" })?.finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    await runWorkers();
    await setTimeout(50);
  }
  expect(await running).toMatchObject({ status: "completed", acknowledged: count });
  expect(await acknowledged()).toBe(count);

  await expect(acknowledge({ ...all, reason: "\n" })).rejects.toThrow("--reason: must say why.");
});
