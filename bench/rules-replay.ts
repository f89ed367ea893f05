/**
 * Three years of a company with 5,000 people: they join, leave, come back and change passwords. Breaches become
 * known with the data classes, dates and sizes that Have I Been Pwned lists. Rules judge each finding whenever one of
 * its facts changes.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Facts, judge, type State } from "../shared/findings/rules/rule.ts";
import { type RuleId, rulesInOrder } from "../shared/findings/rules/rule-schema.ts";
import { type BreachDetails, breachOf } from "../shared/hibp/breach.ts";
import { mayEnd } from "./rules-oracle.ts";

const dayMilliseconds = 86_400_000;
const years = 3;
const people = 5_000;

/** What is assumed of the company. */
const assumed = {
  /** Of its people, in a year; as many join. */
  leavers: 0.15,
  /** Of those who left, within 60 days. */
  comeBack: 0.03,
  /** From one change of a password to the next. */
  passwordDays: [90, 730],
  /** Breaches of a person that are known at the first scan, on average. */
  breachesEach: 5,
  /** Of breaches, in a year after they became known: another data class is added. */
  gainClass: 0.05,
  /** Of open findings, in a month. */
  acknowledged: 0.1,
  /** Of findings that a rule ended, at any time. */
  reopened: 0.005,
} as const;

/** Pseudorandom numbers from 0 to below 1 (mulberry32), the same for each seed. */
const randomOf = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

type Listed = BreachDetails & { addedAt: number };

const readMix = (): Listed[] => {
  const text = readFileSync(join(import.meta.dirname, "hibp-mix.csv"), "utf8");
  const [, , head = "", ...rows] = text.trimEnd().split("\n");
  const classes = head.split(",").slice(1).join(",").split("|");
  return rows.map((row, index) => {
    const [breachDate = "", added = "", pwnCount = "", flags = "", exposed = ""] = row.split(",");
    const details = breachOf({
      name: `Breach${index}`,
      breachDate,
      pwnCount: Number(pwnCount),
      dataClasses: exposed.split(" ").map((each) => classes[Number(each)] ?? ""),
      isStealerLog: flags.includes("s"),
      isMalware: flags.includes("m"),
      isSpamList: flags.includes("l"),
      isFabricated: flags.includes("f"),
      isVerified: !flags.includes("u"),
    });
    return { ...details, addedAt: Date.parse(added) };
  });
};

type Person = { joinedAt: number; leftAt?: string; passwordChangedAt?: string };
type Finding = { person: number; breach: number; state: State; isByPerson: boolean };
type Happening = { at: number; act: (at: number) => void };

export type Replayed = {
  findings: number;
  /** By rule: findings that it ended last, without a click. */
  ended: Record<RuleId, number>;
  /** Opened again because a fact was taken back, or a breach was worse. */
  reopened: number;
  byPeople: number;
  open: number;
  /** Ended although the oracle says that nothing ends them, at any time; or open although a rule holds. */
  wrong: number;
  missed: number;
  judged: number;
};

export const replay = (seed: number): Replayed => {
  const random = randomOf(seed);
  const between = (from: number, to: number): number => from + random() * (to - from);
  const breaches = readMix();
  const end = Math.max(...breaches.map(({ addedAt }) => addedAt));
  const start = end - years * 365 * dayMilliseconds;
  const known = breaches.filter(({ addedAt }) => addedAt <= start);
  const accounts = known.reduce((sum, { pwnCount }) => sum + pwnCount, 0);
  const on = new Set(rulesInOrder);
  const persons: Person[] = [];
  const findings: Finding[] = [];
  const byPerson = new Map<number, Finding[]>();
  const byBreach = new Map<number, Finding[]>();
  const happenings: Happening[] = [];
  const later = (at: number, act: Happening["act"]): void => {
    if (at <= end) happenings.push({ at, act });
  };
  const result: Replayed = {
    findings: 0,
    ended: { left: 0, password_changed: 0, harmless: 0 },
    reopened: 0,
    byPeople: 0,
    open: 0,
    wrong: 0,
    missed: 0,
    judged: 0,
  };
  const factsOf = ({ person, breach }: Finding): Facts => {
    const { leftAt, passwordChangedAt } = persons[person] as Person;
    const names = { name: `Person ${person}`, directory: "Entra" };
    return {
      person: { ...names, ...(leftAt && { leftAt }), ...(passwordChangedAt && { passwordChangedAt }) },
      breach: breaches[breach] as Listed,
    };
  };
  const isAllowed = (finding: Finding, rule: RuleId, at: number): boolean => {
    const { person, breach } = factsOf(finding);
    return mayEnd[rule]?.({ ...person, ...breach }, at) === true;
  };
  const look = (finding: Finding, at: number): void => {
    result.judged++;
    const verdict = judge(finding.state, factsOf(finding), on, new Date(at));
    if (verdict.is === "ended") finding.state = { is: "ended", rule: verdict.ending.rule };
    if (verdict.is === "reopened") {
      finding.state = { is: "open" };
      result.reopened++;
    }
    const { state } = finding;
    if (state.is === "ended" && !isAllowed(finding, state.rule, at)) result.wrong++;
    if (state.is === "open" && rulesInOrder.some((rule) => isAllowed(finding, rule, at))) result.missed++;
  };
  const found = (person: number, breach: number, at: number): void => {
    const finding: Finding = { person, breach, state: { is: "open" }, isByPerson: false };
    findings.push(finding);
    byPerson.set(person, [...(byPerson.get(person) ?? []), finding]);
    byBreach.set(breach, [...(byBreach.get(breach) ?? []), finding]);
    look(finding, at);
    const acknowledge = (): void => {
      if (finding.state.is !== "open") return;
      finding.state = { is: "theirs" };
      finding.isByPerson = true;
    };
    const month = Math.floor(Math.log(1 - random()) / Math.log(1 - assumed.acknowledged));
    later(at + (month + random()) * 30 * dayMilliseconds, acknowledge);
    if (random() < assumed.reopened) {
      later(between(at, end), () => {
        if (finding.state.is === "ended") finding.state = { is: "theirs" };
      });
    }
  };
  /** More of those who were there when a large breach happened are in it. */
  const isIn = (person: Person, { pwnCount, breachDate }: Listed): boolean => {
    const hadAddress = person.joinedAt <= Date.parse(breachDate);
    return hadAddress && random() < (2 * assumed.breachesEach * pwnCount) / accounts;
  };
  const lookAll = (some: readonly Finding[] | undefined, at: number): void => {
    for (const finding of some ?? []) look(finding, at);
  };
  const changePassword = (id: number, at: number): void => {
    const person = persons[id] as Person;
    if (person.leftAt === undefined) person.passwordChangedAt = new Date(at).toISOString();
    lookAll(byPerson.get(id), at);
    const [from, to] = assumed.passwordDays;
    later(at + between(from, to) * dayMilliseconds, (then) => changePassword(id, then));
  };
  const leave = (id: number, at: number): void => {
    const person = persons[id] as Person;
    person.leftAt = new Date(at).toISOString();
    lookAll(byPerson.get(id), at);
    if (random() < assumed.comeBack) {
      later(at + between(1, 60) * dayMilliseconds, (then) => {
        delete person.leftAt;
        lookAll(byPerson.get(id), then);
      });
    } else join_(at);
  };
  const join_ = (at: number, since = at): void => {
    const id = persons.push({ joinedAt: since }) - 1;
    const person = persons[id] as Person;
    changePassword(id, at);
    const yearsHere = -Math.log(1 - random()) / assumed.leavers;
    later(at + yearsHere * 365 * dayMilliseconds, (then) => leave(id, then));
    for (const [breach, each] of breaches.entries())
      if (each.addedAt <= at && isIn(person, each)) found(id, breach, at);
  };
  for (let count = 0; count < people; count++) join_(start, start - between(0, 12) * 365 * dayMilliseconds);
  for (const [breach, each] of breaches.entries()) {
    if (each.addedAt > start) {
      later(each.addedAt, (at) => {
        for (const [id, person] of persons.entries())
          if (person.leftAt === undefined && isIn(person, each)) found(id, breach, at);
      });
    }
    if (random() < assumed.gainClass * years) {
      later(Math.max(start, each.addedAt) + between(1, 365 * years) * dayMilliseconds, (at) => {
        const more =
          ["Phone numbers", "Dates of birth", "Physical addresses"][Math.floor(random() * 3)] ?? "";
        const { addedAt, severity: _, ...details } = each;
        const dataClasses = [...new Set([...details.dataClasses, more])];
        breaches[breach] = { ...breachOf({ ...details, dataClasses }), addedAt };
        lookAll(byBreach.get(breach), at);
      });
    }
  }
  happen(happenings);
  result.findings = findings.length;
  for (const { state, isByPerson } of findings) {
    if (state.is === "ended") result.ended[state.rule]++;
    else if (isByPerson) result.byPeople++;
    else result.open++;
  }
  return result;
};

/** In the order of their times; each may add later ones. */
const happen = (queue: Happening[]): void => {
  const swap = (one: number, other: number): void => {
    [queue[one], queue[other]] = [queue[other] as Happening, queue[one] as Happening];
  };
  const timeOf = (index: number): number => queue[index]?.at ?? Number.POSITIVE_INFINITY;
  const sink = (from: number): void => {
    for (let at = from; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const least = timeOf(right) < timeOf(left) ? right : left;
      if (timeOf(at) <= timeOf(least)) return;
      swap(at, least);
      at = least;
    }
  };
  const rise = (from: number): void => {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (timeOf(parent) <= timeOf(at)) return;
      swap(at, parent);
      at = parent;
    }
  };
  for (let index = queue.length >> 1; index >= 0; index--) sink(index);
  while (queue[0] !== undefined) {
    const next = queue[0];
    const last = queue.pop() as Happening;
    if (queue.length > 0) {
      queue[0] = last;
      sink(0);
    }
    const before = queue.length;
    next.act(next.at);
    for (let index = before; index < queue.length; index++) rise(index);
  }
};
