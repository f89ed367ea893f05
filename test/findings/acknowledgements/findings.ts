/** Organizations with findings in several blocks, and what tests ask of them. */
import { expect } from "vitest";
import { entries } from "../../../shared/access/activity/activity.ts";
import type { Actor } from "../../../shared/access/activity/actor.ts";
import { chunk } from "../../../shared/aws/table/chunk.ts";
import { type Key, keys } from "../../../shared/aws/table/keys.ts";
import { withOptimisticRetry } from "../../../shared/aws/table/optimistic-retry.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as counts from "../../../shared/counts/counts.ts";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import type { FindingFilter } from "../../../shared/findings/acknowledgements/acknowledgement-schema.ts";
import { announcement } from "../../../shared/findings/acknowledgements/follow.ts";
import { sweepAcknowledgement } from "../../../shared/findings/acknowledgements/sweep.ts";
import { work } from "../../../shared/findings/acknowledgements/work.ts";
import * as breachDates from "../../../shared/findings/breach-dates.ts";
import { type FindingRecord, findings, newFinding } from "../../../shared/findings/record.ts";
import { type Breach, breachOf } from "../../../shared/hibp/breach.ts";
import { blockSize, type Reserved, reserve } from "../../../shared/lists/blocks.ts";
import { changeFindings, type Email, emails, isBreached } from "../../../shared/monitoring/emails/record.ts";
import { audit } from "../../../shared/operations/audit/audit.ts";
import { createOrganization, invocation, sweepOf, takeMessages } from "../../scanning/in-process-workers.ts";

export const somebody: Actor = { type: "user", id: 7, label: "ada@demo.example" };
export const somebodyElse: Actor = { type: "api_key", id: 8, label: "Other key" };

const findingsPerTransaction = 40;

export type NewFinding = {
  emailId: number;
  breachId: number;
  severity?: number;
  scanId?: number | null;
  detectedAt?: string;
};

/** Writes findings with these ids, as scans do: each with its e-mail, and counted. */
export const addFindings = async (
  org: number,
  given: readonly NewFinding[],
  ids: readonly Reserved[],
): Promise<number[]> => {
  const pairs = given.map((finding, index) => ({ ...finding, reserved: ids[index] as Reserved }));
  for (const some of chunk(pairs, findingsPerTransaction)) {
    const byEmail = [...Map.groupBy(some, ({ emailId }) => emailId)];
    const rows = some.map(({ emailId, breachId, severity = 3, scanId = null, detectedAt, reserved }) => {
      const domainId = 1 + (emailId % 2);
      const email = `user${emailId}@demo.example`;
      const firstDetectedAt = detectedAt ?? reserved.createdAt;
      return {
        reserved,
        group: { scanId, acknowledged: false, domainId, severity, isHistory: false, told: false, endedBy: 0 },
        row: { emailId, email, breachId, firstDetectedAt },
      };
    });
    await breachDates.widen(
      org,
      rows.map(({ row }) => row),
      new Map(),
    );
    await withOptimisticRetry(async () => {
      const ofEmails = await emails.getMany(
        org,
        byEmail.map(([emailId]) => emailId),
      );
      await table.transact([
        ...emails.writes(
          org,
          byEmail.map(([, ofEmail], index) =>
            changeFindings(
              org,
              ofEmails[index] as Email,
              ofEmail.map(({ severity = 3 }) => ({ to: { acknowledged: false, severity } })),
              {
                set: Object.fromEntries(
                  ofEmail.map(({ breachId, reserved }) => [`findings.${breachId}`, reserved.id]),
                ),
              },
            ),
          ),
        ),
        ...findings.writes(
          org,
          rows.map(({ reserved, group, row }) => findings.put(org, reserved, group, newFinding(org, row))),
        ),
        ...counts.writes(org, {
          findings: rows.map(({ reserved, group, row }) => ({ ...row, id: reserved.id, to: group })),
          breachedEmails: ofEmails.filter((row) => row !== undefined && !isBreached(row)).length,
          people: [...new Map(rows.map(({ row }) => [row.emailId, row.firstDetectedAt])).values()],
        }),
      ]);
    });
  }
  return pairs.map(({ reserved }) => reserved.id);
};

/** Ids at the beginning of a block of their own each time it is called. */
export const idsInNewBlock = async (org: number, count: number): Promise<Reserved[]> =>
  (await reserve(org, "FINDING", blockSize)).slice(0, count);

export type Seeded = { org: number; emailIds: number[]; findingIds: number[] };

/**
 * An organization whose e-mails have findings in several blocks. The first block has more than a transaction
 * takes, each later one a finding of each e-mail. So batches meet in the rows of e-mails.
 */
export const seedFindings = async ({
  emailCount = 24,
  perEmail = 4,
  furtherBlocks = 3,
} = {}): Promise<Seeded> => {
  const org = await createOrganization({ "demo.example": emailCount });
  const rows = await Promise.all((await emails.tally(org)).map(({ block }) => emails.members(org, block)));
  const emailIds = rows.flat().map(({ id }) => id);
  const first = emailIds.flatMap((emailId) =>
    Array.from({ length: perEmail }, (_, index) => ({ emailId, breachId: index + 1 })),
  );
  const findingIds = await addFindings(org, first, await idsInNewBlock(org, first.length));
  for (let block = 0; block < furtherBlocks; block++) {
    const more = emailIds.map((emailId) => ({ emailId, breachId: 100 + block }));
    findingIds.push(...(await addFindings(org, more, await idsInNewBlock(org, more.length))));
  }
  return { org, emailIds, findingIds };
};

/** Requests that what matches is acknowledged. */
export const requestAll = (
  org: number,
  filter: FindingFilter = {},
): Promise<{ id: number; matching: number }> =>
  acknowledgements.request(org, { filter, resolution: "ignored", reason: "Known" }, somebody);

export const setSeverity = (id: number, severity: Breach["severity"]): Promise<void> =>
  table.put({
    ...keys.breach(id),
    ...breachOf({ name: `Breach${id}`, title: `Breach ${id}`, severity }),
    id,
  });

/** What a sync of the catalog does that changes the severity of a breach. */
export const changeSeverity = async (
  org: number,
  id: number,
  severity: Breach["severity"],
): Promise<void> => {
  await table.transact([announcement(org)]);
  await setSeverity(id, severity);
};

/** A sweep at this time. Default: long after the last sign of life of a worker. */
export const sweepAt = (lock: Key, milliseconds?: number): Promise<void> =>
  sweepAcknowledgement(lock, sweepOf(milliseconds));

/** Handles messages until there is none. */
export const runWorkers = async (): Promise<void> => {
  for (let messages = await takeMessages("acknowledgements"); messages.length > 0; ) {
    for (const message of messages) await work(message, invocation());
    messages = await takeMessages("acknowledgements");
  }
};

/** Sweeps and workers, until all findings have the severity of their breach. */
export const settle = async (org: number): Promise<void> => {
  for (let sweeps = 0; (await table.get(keys.severityLock(org))) !== undefined; sweeps++) {
    expect(sweeps).toBeLessThan(20);
    await sweepAt(keys.severityLock(org));
    await runWorkers();
  }
};

export const readFindings = async (org: number): Promise<FindingRecord[]> => {
  const tally = await findings.tally(org);
  const rows = await Promise.all(findings.blocks(tally).map((block) => findings.members(org, block)));
  return rows.flat();
};

/** Ids of the findings that carry the acknowledgment of a request by `somebody`. */
export const acknowledgedBySomebody = async (org: number): Promise<number[]> =>
  (await readFindings(org))
    .filter(({ acknowledgment }) => acknowledgment?.by.id === somebody.id)
    .map(({ id }) => id);

/** All that must hold once a request has ended: counts, findings, one log entry, and no difference between any rows. */
export const expectDone = async (
  org: number,
  id: number,
  expected: { matching: number; acknowledged: number },
): Promise<void> => {
  const ended = await acknowledgements.get(org, id);
  expect(ended).toMatchObject({ status: "completed", ...expected });
  expect(ended.completedAt).not.toBeNull();
  const carrying = (await readFindings(org)).filter(({ acknowledgment }) => acknowledgment?.by.id === 7);
  expect(carrying).toHaveLength(expected.acknowledged);
  for (const row of carrying) {
    expect(row.acknowledgment).toEqual({
      at: ended.createdAt,
      by: somebody,
      resolution: "ignored",
      reason: "Known",
    });
  }
  await expectAgreement(org);
  const { items } = await entries.page(org, { limit: 100, offset: 0 });
  const logged = items.filter(({ action }) => action === "findings.acknowledged");
  expect(logged.map(({ summary, actor }) => ({ summary, actor }))).toEqual(
    expected.acknowledged === 0
      ? []
      : [
          {
            summary: `Acknowledged ${expected.acknowledged} breach findings as ignored: Known`,
            actor: somebody,
          },
        ],
  );
};

/** `admin check` finds nothing wrong. */
export const expectAgreement = async (org: number): Promise<void> => {
  const { differences, unsettled } = await audit(org);
  expect({ differences, unsettled }).toEqual({ differences: [], unsettled: [] });
};
