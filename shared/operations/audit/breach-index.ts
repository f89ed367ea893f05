/** The index of findings by breach (findings/breach-index.ts) against the findings. */

import { chunk } from "../../aws/table/chunk.ts";
import { absent, asRead, type Write } from "../../aws/table/condition.ts";
import * as table from "../../aws/table/table.ts";
import * as breachIndex from "../../findings/breach-index.ts";
import * as notes from "../../findings/breach-notes.ts";
import { findings } from "../../findings/record.ts";
import * as counts from "../../lists/counts.ts";
import type { FindingIndex } from "./finding-index.ts";
import type { Inspection, Inspector, Problem } from "./inspector.ts";

/** Breaches whose index is read at the same time. */
const concurrency = 8;

/** Compares the index of each breach with the findings that were read on the way, and looks again at those that differ. */
export const auditBreachIndex = async (
  org: number,
  index: FindingIndex,
  { inspect }: Inspector,
): Promise<void> => {
  const idsByBreach = index.idsByBreach();
  const breachIds = new Set([...idsByBreach.keys(), ...(await counts.breachesEver(org))]);
  const noted = notes.factsOf(await notes.read(org));
  for (const some of chunk([...breachIds], concurrency)) {
    const suspects = await Promise.all(
      some.map(async (breachId) => {
        const groupKeys = await breachIndex.groupKeysOf(org, breachId, noted);
        const ids = new Set([...groupKeys.keys(), ...(idsByBreach.get(breachId) ?? [])]);
        const differing = [...ids].filter((id) => {
          const finding = index.get(id);
          const should = finding?.breachId === breachId ? finding.groupKey : undefined;
          return groupKeys.get(id) !== should;
        });
        return { breachId, ids: differing };
      }),
    );
    // One after the other, because each repair takes notes over and of several take-overs only one goes on.
    for (const { breachId, ids } of suspects) {
      if (ids.length > 0) await inspect({ kind: "breach", id: breachId }, inspectBreach(org, breachId, ids));
    }
  }
};

/** `is`, `should`: group keys in the index and of the finding; undefined where there is none. */
type Wrong = { id: number; is: string | undefined; should: string | undefined };

/** Differences that are named; others are only counted. */
const maximumNamed = 10;

/** Each of them takes a check of the finding, and a note if it lies in a block of its own. */
const repairsPerTransaction = Math.floor(table.maxTransactionWrites / 2);

const inspectBreach =
  (org: number, breachId: number, suspects: readonly number[]): Inspection<Problem> =>
  async () => {
    const wrong = await wrongOf(org, breachId, suspects);
    if (wrong.length === 0) return undefined;
    const named = wrong.slice(0, maximumNamed).map(({ id, is, should }) => {
      if (should === undefined) return `finding ${id} is indexed and not there`;
      return is === undefined
        ? `finding ${id} is not indexed`
        : `finding ${id} is indexed under ${is}, should be ${should}`;
    });
    const others = wrong.length - named.length;
    return {
      says: `${named.join("; ")}${others > 0 ? `; ${others} others are wrong too` : ""}`,
      repair: () => repair(org, breachId, wrong),
    };
  };

const wrongOf = async (org: number, breachId: number, ids: readonly number[]): Promise<Wrong[]> => {
  const groupKeys = await breachIndex.groupKeysOf(org, breachId);
  const rows = await findings.getMany(org, ids);
  return ids.flatMap((id, place): Wrong[] => {
    const row = rows[place];
    const should = row?.breachId === breachId ? row.group : undefined;
    const is = groupKeys.get(id);
    return is === should ? [] : [{ id, is, should }];
  });
};

/**
 * What is indexed wrongly is first noted as deleted and taken out of the index, and then noted as detected: only so can a
 * finding get another group that is not the next one.
 */
const repair = async (org: number, breachId: number, wrong: readonly Wrong[]): Promise<void> => {
  const note = async (
    some: readonly Wrong[],
    change: (each: Wrong) => Partial<notes.NotedChange>,
  ): Promise<void> => {
    for (const part of chunk(some, repairsPerTransaction)) {
      await table.transact([
        ...part.map(({ id, should }): Write => {
          const check = findings.key(org, id);
          return { check, if: should === undefined ? absent : asRead({ breachId, group: should }) };
        }),
        ...notes.writes(
          org,
          part.map((each) => ({ id: each.id, breachId, ...change(each) })),
        ),
      ]);
    }
  };
  const indexed = wrong.filter(({ is }) => is !== undefined);
  await note(indexed, ({ is }) => ({ from: is }));
  // Even if nothing was noted here: an earlier try may have noted deletions, and another take-over may have gone first.
  await breachIndex.takeOver(org, () => true, { always: true });
  await note(
    wrong.filter(({ should }) => should !== undefined),
    ({ should }) => ({ to: should }),
  );
};
