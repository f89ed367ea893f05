/**
 * All jobs of an organization but its scans at the same time: requests of people, findings that follow a
 * severity, removals and mails. Workers stall and die between any two lines. Messages get lost, and come
 * twice and late. The sweep's clock is behind or ahead. Histories with scans are those of alerting
 * (alerting/model.long.test.ts).
 */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { entries } from "../../shared/access/activity/activity.ts";
import { deliver } from "../../shared/access/notices/deliver.ts";
import { newNotices } from "../../shared/access/notices/notice.ts";
import { sweepMail } from "../../shared/access/sign-in/mail-row.ts";
import { forEachDue } from "../../shared/aws/queue/due-rows.ts";
import type { Sweep } from "../../shared/aws/queue/job.ts";
import { type DueKind, dueIndex, dueShardsOf, type Key, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { request } from "../../shared/findings/acknowledgements/acknowledgement.ts";
import type { AcknowledgementRow } from "../../shared/findings/acknowledgements/record.ts";
import { sweepAcknowledgement } from "../../shared/findings/acknowledgements/sweep.ts";
import { work } from "../../shared/findings/acknowledgements/work.ts";
import { remove, sweepRemoval } from "../../shared/findings/email-removal.ts";
import { acknowledge } from "../../shared/findings/finding.ts";
import { severities } from "../../shared/hibp/severity-schema.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import * as accounts from "../access/organizations/accounts.ts";
import { Chance } from "../alerting/faults/chance.ts";
import { faultKinds, Workers } from "../alerting/faults/workers.ts";
import { mails, useMailServer } from "../alerting/mail-deliveries.ts";
import {
  changeSeverity,
  expectAgreement,
  readFindings,
  type Seeded,
  seedFindings,
  setSeverity,
  somebody,
  somebodyElse,
} from "../findings/acknowledgements/findings.ts";
import { invocation, sweepOf, takeMessages, useWorkers } from "../scanning/in-process-workers.ts";

useWorkers();
useMailServer();

/**
 * A seed repeats the choices, while what runs at the same time may take turns in another order. Only in
 * histories with odd seeds e-mails are removed and findings are acknowledged alone; in the others counts
 * must add up.
 */
const seeds = process.env.JOBS_SEED?.split(",") ?? ["1", "2", "3", "4"];

/** The probability that a write breaks, and that a message is lost, and comes twice. */
const rates = { request: 0.1, lost: 0.15, twice: 0.4 };
const rounds = 120;
/** An organization has one at a time, and a busy machine takes more rounds for each. */
const leastRequests = 6;
/** A message comes up to so many rounds later, half of them at once. */
const latest = 4;
/** How far the sweep's clock is behind or ahead of the workers', at most. */
const skewSeconds = 180;
/** Breaches whose severity changes, of those that everybody is in. */
const changing = [1, 2, 100];

const sweeps: Partial<Record<DueKind, (key: Key, sweep: Sweep) => Promise<void>>> = {
  ACKNOWLEDGEMENT: sweepAcknowledgement,
  REMOVAL: sweepRemoval,
  "SIGN-IN-MAIL": sweepMail,
};

type Act = () => Promise<unknown>;

class History {
  readonly #chance: Chance;
  readonly #late: { round: number; act: Act }[] = [];
  readonly #org: number;
  readonly #seeded: Seeded;
  readonly #isMixed: boolean;
  readonly #admin: { id: number; email: string };
  readonly labels: string[] = [];

  constructor(chance: Chance, isMixed: boolean, seeded: Seeded, admin: { id: number; email: string }) {
    this.#chance = chance;
    this.#isMixed = isMixed;
    this.#org = seeded.org;
    this.#seeded = seeded;
    this.#admin = admin;
  }

  /** What people and the catalog do in a round. */
  async changes(round: number): Promise<Act[]> {
    const org = this.#org;
    const draws = (name: string, rate: number): boolean => this.#chance.draw(`${round}, ${name}`) < rate;
    const pick = <T>(name: string, choices: readonly T[]): T =>
      this.#chance.pick(choices, `${round}, ${name}`);
    const acts: Act[] = [];
    const filter = () =>
      pick("filter", [{}, { breachId: 1 }, { domainId: 1 }, { severity: ["high" as const] }]);
    if (draws("acknowledge", 0.4))
      acts.push(() =>
        request(org, { filter: { ...filter(), acknowledged: false }, resolution: "ignored" }, somebody),
      );
    if (draws("reopen", 0.3)) acts.push(() => request(org, { filter: filter() }, somebody));
    if (draws("severity", 0.2))
      acts.push(() => changeSeverity(org, pick("breach", changing), pick("severity", severities)));
    if (this.#isMixed && draws("remove", 0.08)) {
      const id = pick("email", this.#seeded.emailIds);
      acts.push(() => remove(org, id, somebody));
    }
    if (this.#isMixed && draws("alone", 0.3)) {
      const id = pick("finding", this.#seeded.findingIds);
      acts.push(() => acknowledge(org, { id, resolution: "handled" }, somebodyElse));
    }
    if (draws("notice", 0.2)) {
      const label = `Key ${round} of ${org}`;
      const notices = newNotices(org, [this.#admin]);
      await table.transact(
        notices.writes({ about: "api_key", label, access: "full", expiresAt: null, by: "somebody" }),
      );
      this.labels.push(label);
      acts.push(notices.send);
    }
    return acts;
  }

  /** What the queues give in a round: some messages never, some twice, some later. */
  async given(round: number, faulty: Workers): Promise<Act[]> {
    const messages: Act[] = [
      ...(await takeMessages("acknowledgements")).map((each) => () => work(each, invocation())),
      ...(await takeMessages("sign-in-mails")).map(
        ({ mailId }) =>
          () =>
            deliver(mailId),
      ),
    ];
    for (const [index, act] of messages.entries()) {
      const which = `${round}, message ${index}`;
      if (faulty.strikes("message: lost", which, rates.lost)) continue;
      for (let copy = faulty.strikes("message: twice", which, rates.twice) ? 2 : 1; copy > 0; copy--) {
        const later = Math.max(0, Math.ceil((2 * this.#chance.draw(`${which}, ${copy}, late`) - 1) * latest));
        this.#late.push({ round: round + later, act });
      }
    }
    const due = this.#late.filter((each) => each.round <= round);
    for (const each of due) this.#late.splice(this.#late.indexOf(each), 1);
    return due.map(({ act }) => act);
  }

  sweeps(round: number): Act[] {
    const behind = (1 - 2 * this.#chance.draw(`${round}, clock`)) * skewSeconds;
    if (this.#chance.draw(`${round}, sweep`) < 0.5) return [];
    return sweepsAt(Date.now() - 1_000 * behind);
  }
}

const sweepsAt = (milliseconds?: number): Act[] =>
  Object.entries(sweeps).map(([kind, sweepOne]) => {
    const sweep = sweepOf(milliseconds);
    return () => forEachDue(kind as DueKind, sweep.now, invocation(), (key) => sweepOne(key, sweep));
  });

const dueJobs = async (): Promise<Key[]> => {
  const shards = Object.keys(sweeps).flatMap((kind) => dueShardsOf(kind as DueKind));
  return (await Promise.all(shards.map((pk) => table.query<Key>({ index: dueIndex, pk })))).flat();
};

/** Lets sweeps and workers, none of them dying, finish all that is due. */
const settle = async (): Promise<void> => {
  for (let count = 0; (await dueJobs()).length > 0; count++) {
    expect(count).toBeLessThan(40);
    for (const sweep of sweepsAt()) await sweep();
    for (let isOver = false; !isOver; ) {
      const requests = await takeMessages("acknowledgements");
      for (const message of requests) await work(message, invocation());
      const notices = await takeMessages("sign-in-mails");
      for (const { mailId } of notices) await deliver(mailId);
      isOver = requests.length + notices.length === 0;
    }
    vi.setSystemTime(Date.now() + 600_000);
  }
};

const requestsOf = (org: number): Promise<AcknowledgementRow[]> =>
  table.query<AcknowledgementRow>({ pk: keys.acknowledgement(org, 0).pk });

/**
 * Each request has ended and has one log entry. If nobody else changed findings, the counts of requests
 * add up to the acknowledged findings.
 */
const expectCounted = async (org: number, isMixed: boolean): Promise<void> => {
  const requests = await requestsOf(org);
  expect(requests.filter(({ status }) => status === "running")).toEqual([]);
  expect(requests.length).toBeGreaterThanOrEqual(leastRequests);
  const said = requests
    .filter(({ acknowledged = 0 }) => acknowledged > 0)
    .map(
      ({ resolution, acknowledged }) =>
        `${resolution === null ? "Reopened" : "Acknowledged"} ${acknowledged} breach`,
    );
  const { items } = await entries.page(org, { limit: 1_000, offset: 0 });
  const logged = items
    .filter(({ action }) => action === "findings.acknowledged" || action === "findings.reopened")
    .map(({ summary }) => summary.split(" ").slice(0, 3).join(" "));
  expect(logged.sort()).toEqual(said.sort());
  if (isMixed) return;
  const added = requests.map(({ resolution, acknowledged = 0 }) =>
    resolution === null ? -acknowledged : acknowledged,
  );
  const open = (await readFindings(org)).filter(({ acknowledgment }) => acknowledgment === undefined);
  const all = (await readFindings(org)).length;
  expect(added.reduce((sum, each) => sum + each, 0)).toBe(all - open.length);
};

describe("jobs", () => {
  test.each(seeds)("in a random history, whatever dies (JOBS_SEED=%s)", async (seed) => {
    const chance = new Chance(seed);
    const isMixed = Number(seed) % 2 === 1;
    const faulty = new Workers(chance, rates.request);
    const seeded = await seedFindings({ emailCount: 10, perEmail: 14, furtherBlocks: 2 });
    const { org, emailIds } = seeded;
    const admin = await accounts.createUser(org, `admin${seed}@demo.example`);
    for (const id of changing) await setSeverity(id, "high");
    const history = new History(chance, isMixed, seeded, admin);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const running: Promise<unknown>[] = [];
    const restore = faulty.intercept();
    try {
      const isShort = async () => (await requestsOf(org)).length < leastRequests;
      for (let round = 0; round < rounds || (round < 3 * rounds && (await isShort())); round++) {
        const acts = [
          ...(await history.changes(round)),
          ...(await history.given(round, faulty)),
          ...history.sweeps(round),
        ];
        const workers = acts.map((act, index) => faulty.run(`round ${round}, worker ${index}`, act));
        running.push(...workers);
        // Slow ones are still at work in the next round.
        await Promise.race([Promise.all(workers), pause(40)]);
        vi.setSystemTime(Date.now() + (5 + 60 * chance.draw(`round ${round}, time`)) * 1_000);
      }
      await Promise.all(running);
      restore();
      await settle();
    } finally {
      restore();
      vi.useRealTimers();
    }
    const left = new Set(
      (await Promise.all(emailIds.map((id) => emails.get(org, id)))).map((row) => row?.id),
    );
    expect((await readFindings(org)).filter(({ emailId }) => !left.has(emailId))).toEqual([]);
    await expectCounted(org, isMixed);
    await expectAgreement(org);
    expect(
      history.labels.filter((label) => !mails.texts.some((text) => text.includes(`"${label}"`))),
    ).toEqual([]);
    console.log(`JOBS_SEED=${seed}: ${emailIds.length - left.size} removed`, faulty.counts);
    const kinds = [
      ...faultKinds.filter((kind) => kind.startsWith("write")),
      "message: lost",
      "message: twice",
    ];
    expect(kinds.filter((kind) => faulty.counts[kind] === undefined)).toEqual([]);
  });
});
