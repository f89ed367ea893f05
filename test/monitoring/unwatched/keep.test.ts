import { expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { remove as removeEmail } from "../../../shared/findings/email-removal.ts";
import * as catalog from "../../../shared/hibp/catalog.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import { remove as removeDomain } from "../../../shared/monitoring/domains/domain-removal.ts";
import { setVerified } from "../../../shared/monitoring/domains/proof.ts";
import * as emails from "../../../shared/monitoring/emails/email.ts";
import * as emailList from "../../../shared/monitoring/emails/email-list.ts";
import { erase, ignore, watch } from "../../../shared/monitoring/unwatched/change.ts";
import { keep, newsIn } from "../../../shared/monitoring/unwatched/keep.ts";
import { countOpen, roots } from "../../../shared/monitoring/unwatched/store.ts";
import { list } from "../../../shared/monitoring/unwatched/unwatched-list.ts";
import { audit } from "../../../shared/operations/audit/audit.ts";
import { exportLines } from "../../../shared/operations/personal-data/export.ts";
import { plan } from "../../../shared/scanning/plan.ts";
import { start } from "../../../shared/scanning/start.ts";
import { Chance } from "../../alerting/faults/chance.ts";
import { recordCapacity } from "../../aws/table/engine.ts";
import { intercept, type Request } from "../../aws/table/intercept.ts";
import { isAt, onTableRequest } from "../../aws/table/request-points.ts";
import {
  createOrganization,
  invocation,
  runChecks,
  runLookUps,
  takeMessage,
  takeMessages,
  useWorkers,
} from "../../scanning/in-process-workers.ts";
import { claim } from "./claim.ts";

const scanned = ["property", "again", "removed", "kept", "lost", "sub", "busy"];
const workers = useWorkers({ breached: Object.fromEntries(scanned.map((name) => [`${name}.example`, {}])) });

/** Aliases and the names of their breaches, as HIBP answers about a domain. */
const answer = (domain: string, aliases: Record<string, string[]>): void => {
  // The server of the tests puts `user` in front.
  workers.breached[domain] = Object.fromEntries(
    Object.entries(aliases).map(([alias, names]) => [alias.replace(/^user/, ""), names]),
  );
};

/** Makes this process die just before or after its n-th request about unwatched addresses; gives the undoing. */
const dieAt = (nth: number, when: "before" | "after"): (() => void) => {
  let left = nth;
  return intercept<Request>("finalizeRequest", (next) => async (sent) => {
    const isIt = isAt("addresses that nobody watches, or who keeps them", sent) && --left === 0;
    if (isIt && when === "before") throw new Error("died");
    const reply = await next(sent);
    if (isIt) throw new Error("died");
    return reply;
  });
};

/** Scans; the first planner may die, and another takes over. */
const scan = async (org: number, death?: () => () => void): Promise<void> => {
  await start(org, "manual", administrator);
  const message = await takeMessage("scan-plans");
  const undo = death?.();
  const died = await plan(message, invocation()).then(
    () => false,
    (error: Error) => error.message === "died",
  );
  undo?.();
  if (died) await plan({ ...message, fencingToken: 1 }, invocation());
  await runChecks();
  expect(await takeMessages("scan-plans")).toEqual([]);
};

const listAll = (org: number, filter: { ignored?: boolean } = {}) =>
  list(org, { limit: 10_000, offset: 0, ...filter });

const idsOf = (some: readonly { id: number }[]): number[] => some.map(({ id }) => id);

/** An organization with a domain, and how the answer of a scan about it is kept. */
const createClaimed = async (name: string) => {
  const org = await createOrganization({ [name]: 1 });
  const [domain] = (await domains.list(org)) as [domains.Domain];
  const breachIds = await catalog.idsFor(["Alpha", "Beta"]);
  const write = async (breachNames: Map<string, string[]>, scanId = 1) => {
    const answer = { domain: await claim(org, domain), breachNames };
    const news = newsIn(answer, { watched: new Map(), breachIds }, (await roots(org))[0]);
    if (news !== undefined) await keep(org, scanId, news);
  };
  return { org, domain, write };
};

/** What is to be listed: the rules of the list in their plainest form. */
type Model = {
  named: Record<string, string[]>;
  watched: Set<string>;
  ignored: Set<string>;
  erased: Set<string>;
};
const listedIn = ({ named, watched, erased }: Model): [string, number][] =>
  Object.entries(named)
    .filter(([alias]) => ![alias, alias.split("+")[0] as string].some((each) => watched.has(each)))
    .filter(([alias]) => ![alias, alias.split("+")[0] as string].some((each) => erased.has(each)))
    .map(([alias, names]): [string, number] => [alias, names.length]);
const openIn = (model: Model): Record<string, number> =>
  Object.fromEntries(listedIn(model).filter(([alias]) => !model.ignored.has(alias)));
const ignoredIn = (model: Model): Record<string, number> =>
  Object.fromEntries(listedIn(model).filter(([alias]) => model.ignored.has(alias)));

test("the list is exact, whatever is watched, ignored, erased, and whoever dies", async () => {
  const chance = new Chance("unwatched 0");
  const domain = "property.example";
  const aliases = Array.from({ length: 30 }, (_, at) => [`user${at}`, `user${at}+shop`]).flat();
  answer(domain, {});
  const org = await createOrganization({ [domain]: 1 });
  const [{ id: domainId } = { id: 0 }] = await domains.list(org);
  const model: Model = { named: {}, watched: new Set(["user0"]), ignored: new Set(), erased: new Set() };
  const ids = new Map<string, number>();
  for (let step = 0; step < 8; step++) {
    const draw = (name: string) => chance.draw(`${step} ${name}`);
    model.named = Object.fromEntries(
      aliases
        .filter((alias) => draw(`named ${alias}`) < 0.5)
        .map((alias) => [alias, draw(`many ${alias}`) < 0.5 ? ["Alpha"] : ["Alpha", "Beta"]]),
    );
    answer(domain, model.named);
    const when = draw("when") < 0.5 ? "before" : "after";
    await scan(org, () => dieAt(1 + Math.floor(draw("nth") * 10), when));

    const listed = await listAll(org, { ignored: false });
    const found = listed.addresses.map(({ email, breachCount }) => [email.split("@")[0], breachCount]);
    expect(Object.fromEntries(found)).toEqual(openIn(model));
    expect(listed).toMatchObject({ total: found.length, unwatched: found.length });
    const ignored = await listAll(org, { ignored: true });
    const ofIgnored = ignored.addresses.map(({ email, breachCount }) => [email.split("@")[0], breachCount]);
    expect(Object.fromEntries(ofIgnored)).toEqual(ignoredIn(model));
    for (const { id, email } of [...listed.addresses, ...ignored.addresses]) {
      expect([...ids].find(([other, each]) => each === id && other !== email)).toBeUndefined();
      ids.set(email, id);
    }

    const some = listed.addresses.filter(({ email }) => draw(`take ${email}`) < 0.1);
    const aliasOf = ({ email }: { email: string }) => email.split("@")[0] as string;
    if (some.length > 0 && draw("act") < 0.4) {
      const added = await watch(org, idsOf(some), administrator);
      expect(added.addedCount).toBe(some.length);
      for (const each of some) model.watched.add(aliasOf(each));
    } else if (some.length > 0) {
      await ignore(org, { ids: idsOf(some) }, true, administrator);
      for (const each of some) model.ignored.add(aliasOf(each));
    }
    const restored = ignored.addresses.filter(({ email }) => draw(`restore ${email}`) < 0.2);
    if (restored.length > 0) {
      await ignore(org, { ids: idsOf(restored) }, false, administrator);
      for (const each of restored) model.ignored.delete(aliasOf(each));
    }
    const erased = listed.addresses.find(({ email }) => draw(`erase ${email}`) < 0.02);
    if (erased !== undefined && !model.watched.has(aliasOf(erased))) {
      await erase(org, domainId, erased.email);
      model.erased.add(aliasOf(erased));
      for (const alias of [aliasOf(erased), `${aliasOf(erased)}+shop`]) model.ignored.delete(alias);
    }
    const monitored = (await emailList.list(org, { limit: 100, offset: 0 })).emails;
    for (const { id, email } of monitored.filter((each) => aliasOf(each) !== "user0")) {
      if (draw(`remove ${email}`) > 0.3) continue;
      await removeEmail(org, id, administrator);
      model.watched.delete(aliasOf({ email }));
    }
    const late = aliases.find((alias) => !model.watched.has(alias) && draw(`add ${alias}`) < 0.02);
    if (late !== undefined) {
      await emails.add(org, { email: `${late}@${domain}`, domainId }, administrator);
      model.watched.add(late);
    }
  }
  expect((await audit(org)).differences).toEqual([]);
});

test("an address that vanishes is ignored by nobody, and is listed when it is back", async () => {
  answer("again.example", { user1: ["Alpha"], user2: ["Alpha"] });
  const org = await createOrganization({ "again.example": 1 });
  await scan(org);
  const ids = idsOf((await listAll(org)).addresses);
  answer("again.example", { user2: ["Alpha"] });
  await scan(org);
  await ignore(org, { ids }, true, administrator);
  expect(await listAll(org)).toMatchObject({ addresses: [{ email: "user2@again.example" }], unwatched: 0 });
  answer("again.example", { user1: ["Alpha"], user2: ["Alpha"] });
  await scan(org);
  const { addresses } = await listAll(org);
  expect(addresses.map(({ email, ignored }) => `${email} ${ignored}`).toSorted()).toEqual([
    "user1@again.example false",
    "user2@again.example true",
  ]);
});

test("an export has an ignored address also when HIBP names it no more", async () => {
  answer("again.example", { user1: ["Alpha"], user2: ["Alpha"] });
  const org = await createOrganization({ "again.example": 1 });
  await scan(org);
  await ignore(org, { filter: { q: "user1@" } }, true, administrator);
  answer("again.example", { user2: ["Alpha"] });
  await scan(org);
  const exported: string[] = [];
  for await (const lines of exportLines(await organizations.existing(org)))
    for (const { kind, email, ignored } of lines)
      if (kind === "unwatched_address") exported.push(`${email} ${ignored}`);
  expect(exported.toSorted()).toEqual(["user1@again.example true", "user2@again.example false"]);
});

test("ignoring by a filter reads nothing for domains without such addresses", async () => {
  answer("again.example", { user1: ["Alpha"], user2: ["Alpha"] });
  const others = Array.from({ length: 15 }, (_, index) => [`number-${index}.example`, 0]);
  const org = await createOrganization({ "again.example": 1, ...Object.fromEntries(others) });
  await scan(org);
  const capacity = recordCapacity();
  expect((await ignore(org, { filter: { q: "nobody" } }, true, administrator)).changed).toBe(0);
  expect(capacity.take().readUnits).toBeLessThan(15);
  expect((await ignore(org, { filter: { q: "user" } }, true, administrator)).changed).toBe(2);
});

test("addresses are watched even if they stay on the list until the next scan", async () => {
  answer("busy.example", { user1: ["Alpha"], user2: ["Alpha"] });
  const org = await createOrganization({ "busy.example": 1 });
  await scan(org);
  const ids = idsOf((await listAll(org)).addresses);
  // The first request finds the addresses, the second and third take them off.
  const undo = dieAt(3, "before");
  expect(await watch(org, ids, administrator)).toEqual({ addedCount: 2, disabledCount: 0 });
  undo();
  expect((await listAll(org)).total).toBe(2);
  await scan(org);
  expect((await listAll(org)).total).toBe(0);
  expect((await emailList.list(org, { limit: 1, offset: 0 })).total).toBe(3);
});

test("a removed domain leaves no row about its unwatched addresses", async () => {
  answer("removed.example", { user1: ["Alpha"], user2: ["Alpha"] });
  const org = await createOrganization({ "removed.example": 1 });
  await scan(org);
  const [address] = (await listAll(org)).addresses;
  await ignore(org, { ids: [address?.id ?? 0] }, true, administrator);
  const [domain] = await domains.list(org);
  const { emails: monitored } = await emailList.list(org, { limit: 1, offset: 0 });
  await removeEmail(org, monitored[0]?.id ?? 0, administrator);
  const undo = dieAt(3, "before");
  await expect(removeDomain(org, domain?.id ?? 0, administrator)).rejects.toThrow("died");
  undo();
  expect(await audit(org)).toMatchObject({ differences: [], unsettled: [] });
  await removeDomain(org, domain?.id ?? 0, administrator);
  for (const { pk } of [keys.unwatched(org, 0), keys.unwatchedPart(org, domain?.id ?? 0, "", 0)])
    expect(await table.query({ pk })).toEqual([]);
});

test("a domain that is unverified, or no longer searched, keeps its list and its date", async () => {
  for (const name of ["kept.example", "lost.example"]) {
    answer(name, { user1: ["Alpha"] });
    const org = await createOrganization({ [name]: 1 });
    await scan(org);
    const [domain] = await domains.list(org);
    const { asOf } = (await listAll(org)).domains[0] ?? {};
    expect(asOf).toBe(domain?.planAt);
    if (name === "kept.example") await setVerified(org, domain?.id ?? 0, false);
    else {
      workers.failureOf = (path) => (path === `breacheddomain/${name}` ? 403 : undefined);
      await scan(org);
      await runLookUps();
    }
    expect(await listAll(org)).toMatchObject({
      addresses: [{ email: `user1@${name}` }],
      domains: [{ unwatched: 1, asOf, isCurrent: false }],
    });
  }
});

test("sub-addresses of a monitored or erased address are never unwatched", async () => {
  answer("sub.example", { "user0+a": ["Alpha", "Beta"], "user0+b": ["Alpha"], "user1+a": ["Alpha"] });
  const org = await createOrganization({ "sub.example": 2 });
  const { emails: monitored } = await emailList.list(org, { limit: 2, offset: 0 });
  const first = monitored.find(({ email }) => email.startsWith("user0")) as (typeof monitored)[number];
  await emails.setActive(org, first.id, false, administrator);
  await scan(org);
  expect(await listAll(org)).toMatchObject({ addresses: [], total: 0, unwatched: 0 });
  expect((await emailList.get(org, first.id)).subAddresses).toEqual([
    { email: "user0+a@sub.example", breachCount: 2 },
    { email: "user0+b@sub.example", breachCount: 1 },
  ]);
  await erase(org, first.domain.id, first.email);
  await removeEmail(org, first.id, administrator);
  await scan(org);
  expect(await listAll(org)).toMatchObject({ addresses: [], total: 0, unwatched: 0 });
});

test("an address that nobody could watch is left out", async () => {
  const { org, write } = await createClaimed("odd.example");
  const aliases = ["a b", "", "a=b", "é", "x".repeat(300), "__proto__", "constructor", "+x", "ok"];
  await write(new Map(aliases.map((alias) => [alias, ["Alpha"]])));
  const listed = (await listAll(org)).addresses.map(({ email }) => email.split("@")[0]);
  expect(listed.sort()).toEqual(["+x", "__proto__", "constructor", "ok"]);
});

test("a scan that loses its domain keeps nothing, and removes what it wrote", async () => {
  const { org, domain, write } = await createClaimed("late.example");
  await write(new Map([["user1", ["Alpha"]]]), 2);
  expect(await countOpen(org)).toBe(0);
  const losing = onTableRequest("any transaction", "after", async () => {
    await table.update(keys.domain(org, domain.id), { set: { planState: "failed" } });
  });
  await write(new Map([["user1", ["Alpha"]]]));
  expect(losing.happened).toBe(true);
  expect(await countOpen(org)).toBe(0);
  expect(await table.query({ pk: keys.unwatchedPart(org, domain.id, "", 0).pk })).toEqual([]);
});

test("a reader of a list that is replaced meanwhile gets the other list whole", async () => {
  const { org, domain, write } = await createClaimed("replaced.example");
  await write(new Map([["user1", ["Alpha"]]]));
  const { pk } = keys.unwatchedPart(org, domain.id, "", 0);
  const replacing = onTableRequest({ pk }, "before", () =>
    write(
      new Map([
        ["user2", ["Alpha"]],
        ["user3", ["Alpha"]],
      ]),
    ),
  );
  const { addresses } = await listAll(org);
  expect(replacing.happened).toBe(true);
  expect(addresses.map(({ email }) => email)).toEqual(["user2@replaced.example", "user3@replaced.example"]);
});

test("an address ignored while an answer is saved stays ignored; none is listed twice", async () => {
  const { org, write } = await createClaimed("twice.example");
  await write(new Map([["changed", ["Alpha"]]]));
  const [changed] = (await listAll(org)).addresses;
  const added = Array.from({ length: 1_200 }, (_, index): [string, string[]] => [`added${index}`, ["Alpha"]]);
  const ignoring = onTableRequest("any transaction", "before", async () => {
    await ignore(org, { ids: [changed?.id ?? 0] }, true, administrator);
  });
  await write(new Map([...added, ["changed", ["Alpha", "Beta"]]]));
  expect(ignoring.happened).toBe(true);
  const open: string[] = [];
  for (let offset = 0; offset < 1_400; offset += 100)
    open.push(
      ...(await list(org, { limit: 100, offset, ignored: false })).addresses.map(({ email }) => email),
    );
  expect(open.sort()).toEqual(added.map(([alias]) => `${alias}@twice.example`).sort());
});
