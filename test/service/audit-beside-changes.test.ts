/** `check` on the command line, and beside changes. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, inject, test } from "vitest";
import { commands } from "../../bin/admin/commands.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import * as monitored from "../../shared/monitoring/emails/email.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import { start as startScan } from "../../shared/scanning/start.ts";
import { commandLine } from "./admin.ts";
import { createOrganization } from "./organization.ts";

test("check exits 1 while differences remain, and says what it repaired", async () => {
  const { id: org } = await createOrganization();
  await table.update(keys.seats(org), { add: { active: 2 } });
  await expect(commandLine("check", { org }, inject("apiUrl"))).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"differenceCount":1,'),
  });
  const report = await audit(org, { repair: true });
  const { print, isWrong } = commands.check ?? {};
  expect(isWrong?.(report as never)).toBe(false);
  expect(print?.(report as never)).toContain(`repaired: seats ${org}`);
});

test("an audit reports nothing false while everything changes", async () => {
  const { domain, domainId, id } = await createOrganization();
  let isOver = false;
  const counts = { added: 0, scans: 0 };
  const writeOn = async (lane: number): Promise<void> => {
    for (let count = 0; !isOver; count++) {
      const address = `${["ada", "alan"][lane]}@${domain}`;
      const emailId = await monitored.add(id, { email: address, domainId }, administrator);
      counts.added++;
      await pause(30);
      await monitored.setActive(id, emailId, false, administrator);
      await monitored.setActive(id, emailId, true, administrator);
      // The long pauses give scans the time to find something.
      await pause(count % 10 === 9 ? 700 : 30);
      await removals.remove(id, emailId, administrator);
    }
  };
  const scanOn = async (): Promise<void> => {
    while (!isOver) {
      try {
        await startScan(id, "manual", administrator);
        counts.scans++;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
      await pause(500);
    }
  };
  const writers = [writeOn(0), writeOn(1), scanOn()];
  try {
    const isChanging = () => counts.added > 3 && counts.scans > 0;
    for (let count = 0; count < 2 || !isChanging(); count++) {
      expect(await audit(id)).toMatchObject({ differences: [], unsettled: [] });
    }
  } finally {
    isOver = true;
    await Promise.all(writers);
  }
});
