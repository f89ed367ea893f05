import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import * as monitored from "../../shared/monitoring/emails/email.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import { start as startScan } from "../../shared/scanning/start.ts";
import { domain, inBreaches, useBreachedPeople } from "../alerting/breached-people.ts";
import { runChecks, runPlans } from "../scanning/in-process-workers.ts";

const { workers, organizationOf } = useBreachedPeople();

test("an audit reports nothing false while everything changes", async () => {
  const org = await organizationOf(0, { first: true });
  const domainId = (await domains.list(org))[0]?.id ?? 0;
  workers.breached[domain] = inBreaches(2, "Alpha", "Beta");
  let isOver = false;
  const counts = { added: 0, scans: 0 };
  const writeOn = async (lane: number): Promise<void> => {
    for (let count = 0; !isOver; count++) {
      const emailId = await monitored.add(org, { email: `user${lane}@${domain}`, domainId }, administrator);
      counts.added++;
      await pause(30);
      await monitored.setActive(org, emailId, false, administrator);
      await monitored.setActive(org, emailId, true, administrator);
      // The long pauses give scans the time to find something.
      await pause(count % 10 === 9 ? 700 : 30);
      await removals.remove(org, emailId, administrator);
    }
  };
  const scanOn = async (): Promise<void> => {
    while (!isOver) {
      try {
        await startScan(org, "manual", administrator);
        counts.scans++;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
      await runPlans();
      await runChecks();
    }
  };
  const writers = [writeOn(0), writeOn(1), scanOn()];
  try {
    const isChanging = () => counts.added > 3 && counts.scans > 0;
    for (let count = 0; count < 2 || !isChanging(); count++) {
      expect(await audit(org)).toMatchObject({ differences: [], unsettled: [] });
    }
  } finally {
    isOver = true;
    await Promise.all(writers);
  }
});
