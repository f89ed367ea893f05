/**
 * What was detected in the last days and is not history: findings by breach, and people, by the UTC day of
 * detection. And what rules have ended, by the day when they did. As of counts, transactions add differences to
 * rows whose sum counts. A row of a day expires when nobody asks for the day any more.
 */
import type { Write } from "../aws/table/condition.ts";
import { keys, timeToLive } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";

const dayMilliseconds = 86_400_000;
const days = 7;

/** A row is kept, and written, for a day more than anybody reads it, since clocks differ. */
const writtenDays = days + 1;

/** A finding that is detected (no `from`), deleted (no `to`), or changed (both). */
type FindingChange = {
  breachId: number;
  firstDetectedAt: string;
  from?: State | undefined;
  to?: State | undefined;
};

/** As of a finding's group (findings/record.ts). */
type State = {
  acknowledged: boolean;
  isHistory: boolean;
  told: boolean;
  endedBy: number;
  endedAt?: string | undefined;
};

/** `people`: for each e-mail with new findings, when they were detected (ISO 8601). */
type Changes = { findings?: readonly FindingChange[]; people?: readonly string[] };

const peopleAttribute = "people";
const endedPrefix = "ended-";

/** Of one breach: the findings, those that are open, and those with a message to their owner. */
type NewFindings = { findings: number; open: number; told: number };

const namesOf = (breachId: number) => ({
  findings: String(breachId),
  open: `${breachId}-open`,
  told: `${breachId}-told`,
});

/** `YYYY-MM-DD` in UTC, so many days before a time. */
const dayBefore = (now: number, before: number): string =>
  new Date(now - before * dayMilliseconds).toISOString().slice(0, 10);

/**
 * The differences that changes make, by day and attribute: `12` are the findings of breach 12, `12-open` those
 * that are open, `12-told` those with a message to their owner. `ended-2` are those that the rule with the code 2
 * has ended on the day, be they history or not.
 */
export const differencesOf = ({
  findings = [],
  people = [],
}: Changes): Map<string, Record<string, number>> => {
  const byDay = new Map<string, Record<string, number>>();
  const add = (time: string, name: string, by: number): void => {
    const ofDay = byDay.get(time.slice(0, 10)) ?? {};
    byDay.set(time.slice(0, 10), ofDay);
    ofDay[name] = (ofDay[name] ?? 0) + by;
  };
  for (const { breachId, firstDetectedAt, from, to } of findings) {
    const names = namesOf(breachId);
    for (const [state, by] of [
      [from, -1],
      [to, 1],
    ] as const) {
      if (state?.endedAt !== undefined && state.endedBy > 0)
        add(state.endedAt, `${endedPrefix}${state.endedBy}`, by);
      if (state === undefined || state.isHistory) continue;
      add(firstDetectedAt, names.findings, by);
      if (!state.acknowledged) add(firstDetectedAt, names.open, by);
      if (state.told) add(firstDetectedAt, names.told, by);
    }
  }
  for (const at of people) add(at, peopleAttribute, 1);
  for (const [day, ofDay] of byDay) {
    const changed = Object.entries(ofDay).filter(([, by]) => by !== 0);
    if (changed.length === 0) byDay.delete(day);
    else byDay.set(day, Object.fromEntries(changed));
  }
  return byDay;
};

/** When a row may go: a day ends a day after it began, and one day more is left for clocks. */
export const expiryOf = (day: string): Record<string, number> => ({
  [timeToLive]: (Date.parse(day) + (writtenDays + 2) * dayMilliseconds) / 1000,
});

/** A write for each of the last days that changes are about. `place`: as of the counts. */
export const writes = (org: number, place: number, changes: Changes): Write[] => {
  const oldest = dayBefore(Date.now(), writtenDays);
  return [...differencesOf(changes)]
    .filter(([day]) => day >= oldest)
    .map(
      ([day, add]): Write => ({
        update: keys.news(org, day, place),
        add,
        setOnce: expiryOf(day),
      }),
    );
};

/** The first day that `read` reads. */
export const firstDay = (now: Date): string => dayBefore(now.getTime(), days);

/** The rows from a day on, added up by day and attribute. */
export const readSums = async (org: number, from: string): Promise<Map<string, Record<string, number>>> => {
  const { pk } = keys.news(org, from, 0);
  const byDay = new Map<string, Record<string, number>>();
  for (const { pk: _, sk, v: __, [timeToLive]: ___, ...counted } of await table.query<
    Record<string, number> & { pk: string; sk: string }
  >({ pk, from })) {
    const day = sk.slice(0, 10);
    const ofDay = byDay.get(day) ?? {};
    byDay.set(day, ofDay);
    for (const [name, by] of Object.entries(counted)) ofDay[name] = (ofDay[name] ?? 0) + by;
  }
  return byDay;
};

/** `people`: e-mails with a finding among these; one that was found in two transactions may count twice. */
type News = NewFindings & {
  since: string;
  people: number;
  byBreach: Map<number, NewFindings>;
  /** By the code of a rule: how many findings it has ended since, and are ended by it. */
  ended: Map<number, number>;
};

/**
 * What was detected since the beginning of the day a week ago (UTC), is not history, and is still there.
 * People are counted when a scan detects their findings, and never taken off. So the page shows at most as
 * many people as findings.
 */
export const read = async (org: number, now: Date): Promise<News> => {
  const since = firstDay(now);
  const news: News = {
    since: `${since}T00:00:00.000Z`,
    findings: 0,
    open: 0,
    told: 0,
    people: 0,
    byBreach: new Map(),
    ended: new Map(),
  };
  for (const ofDay of (await readSums(org, since)).values()) {
    for (const [name, count] of Object.entries(ofDay)) {
      if (name === peopleAttribute) {
        news.people += count;
        continue;
      }
      if (name.startsWith(endedPrefix)) {
        const rule = Number(name.slice(endedPrefix.length));
        news.ended.set(rule, (news.ended.get(rule) ?? 0) + count);
        continue;
      }
      const [breach, kind = "findings"] = name.split("-") as [string, ("open" | "told")?];
      const ofBreach = news.byBreach.get(Number(breach)) ?? { findings: 0, open: 0, told: 0 };
      news.byBreach.set(Number(breach), ofBreach);
      ofBreach[kind] += count;
      news[kind] += count;
    }
  }
  return { ...news, people: Math.min(news.people, news.findings) };
};
