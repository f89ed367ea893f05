/**
 * Random histories of joiners, leavers, renamed, moved and reactivated people of two directories. Requests come
 * twice, workers die between any two lines, and messages get lost. In the end everything is as a plain model says.
 */
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, expect, test, vi } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { activeCount } from "../../shared/access/billing/billing.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { setVerified } from "../../shared/monitoring/domains/proof.ts";
import { setActive } from "../../shared/monitoring/emails/email.ts";
import { list } from "../../shared/monitoring/emails/email-list.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import * as directories from "../../shared/people/directory.ts";
import { work } from "../../shared/people/follow/work.ts";
import { Chance } from "../alerting/faults/chance.ts";
import { Workers } from "../alerting/faults/workers.ts";
import { createOrganization, invocation, useWorkers } from "../scanning/in-process-workers.ts";
import { scimRequest } from "./scim-requests.ts";

useWorkers();

// Requests that break are logged as errors.
beforeEach(() => void vi.stubEnv("POWERTOOLS_LOG_LEVEL", "SILENT"));

const seeds = process.env.DIRECTORY_SEED?.split(",") ?? ["1", "2", "3"];
const rounds = 30;
const faultRate = 0.08;

const [own, later] = ["own.example", "later.example"];
const addresses = [own, later].flatMap((domain) =>
  ["ada", "alan", "grace", "linus"].map((alias) => `${alias}@${domain}`),
);
const names = ["Ada Lovelace", "Alan Turing", "Grace Hopper"];
const departments = ["Finance", "Research"];

/** A user as a directory has it. */
type User = { userName: string; emails: string[]; displayName: string; department: string; active: boolean };

type Connected = { id: number; token: string; users: Map<string, User & { id: string }> };

const bodyOf = ({ userName, emails, displayName, department, active }: User) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
  userName,
  displayName,
  active,
  emails: emails.map((value) => ({ value, type: "work" })),
  "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department },
});

/** The plain model: what directories say of an address. */
const saidOf = (all: readonly Connected[], email: string) => {
  const users = all.flatMap(({ id, users }) =>
    [...users.values()]
      .filter(({ emails, userName }) => emails.includes(email) || userName === email)
      .map((user) => ({ ...user, directory: id, place: Number(user.id) })),
  );
  const active = users
    .filter((user) => user.active)
    .sort((one, other) => one.directory - other.directory || one.place - other.place);
  return { isNamed: users.length > 0, first: active[0] };
};

test.each(seeds)(
  "in a random history everything ends as the model says (DIRECTORY_SEED=%s)",
  async (seed) => {
    const chance = new Chance(seed);
    const org = await createOrganization({ [own]: 0 });
    const created = await domains.create(org, { name: later, verified: false });
    if (created === "exists") throw new Error("The domain exists");
    const all: Connected[] = [];
    for (const name of ["Entra", "Okta"]) {
      const { id, token } = await directories.connect(org, name, administrator);
      await directories.change(org, id, { teamFrom: "department" }, administrator);
      all.push({ id, token, users: new Map() });
    }
    const faulty = new Workers(chance, faultRate);
    const disabledByHand = new Set<string>();
    /** Asks until there is an answer, as clients do: what became of a request without one is not known. */
    const ask = async (which: string, directory: Connected, ...rest: [string, string, unknown?]) => {
      for (let copy = 0; ; copy++) {
        let status = 0;
        const end = await faulty.run(`${which}, copy ${copy}`, async () => {
          const reply = await scimRequest(directory.token, ...rest);
          status = reply.status;
        });
        const isTwice = chance.draw(`${which}, twice ${copy}`) < 0.2;
        if (end === "done" && status > 0 && status < 500 && !isTwice) return status;
      }
    };
    const idOf = async ({ token }: Connected, userName: string): Promise<string> => {
      const { body } = await scimRequest(token, "GET", "Users", undefined, {
        filter: `userName eq "${userName}"`,
      });
      const [found] = body.Resources as { id: string }[];
      if (found === undefined) throw new Error(`There is no ${userName}`);
      return found.id;
    };
    const change = async (round: number): Promise<void> => {
      const pick = <T>(what: string, choices: readonly T[]): T => chance.pick(choices, `${round}, ${what}`);
      const directory = pick("directory", all);
      const key = pick("who", ["one", "two", "three", "four"]);
      const before = directory.users.get(key);
      const wanted: User = {
        userName: `${key}-${directory.id}`,
        emails: [...new Set([pick("address", addresses), pick("second", addresses)])],
        displayName: pick("name", names),
        department: pick("department", departments),
        active: chance.draw(`${round}, active`) < 0.7,
      };
      const which = `round ${round}`;
      if (before === undefined) {
        await ask(which, directory, "POST", "Users", bodyOf(wanted));
        directory.users.set(key, { ...wanted, id: await idOf(directory, wanted.userName) });
        return;
      }
      const path = `Users/${before.id}`;
      const how = pick("how", ["put", "patch", "patch", "delete"]);
      if (how === "delete") {
        await ask(which, directory, "DELETE", path);
        directory.users.delete(key);
      } else if (how === "put") {
        await ask(which, directory, "PUT", path, bodyOf(wanted));
        directory.users.set(key, { ...wanted, id: before.id });
      } else {
        const { active, displayName } = wanted;
        await ask(which, directory, "PATCH", path, {
          Operations: [
            { op: "Replace", path: "active", value: active ? "True" : "False" },
            { op: "replace", value: { displayName } },
          ],
        });
        directory.users.set(key, { ...before, active, displayName });
      }
    };
    const isDone = async () => (await table.query({ pk: keys.directoryTask(org, "").pk })).length === 0;
    const settle = async (): Promise<void> => {
      for (let count = 0; !(await isDone()); count++) {
        expect(count).toBeLessThan(20);
        await work({ organizationId: org }, invocation());
      }
    };
    const emailsNow = async () => (await list(org, { limit: 100, offset: 0 })).emails;

    let restore = faulty.intercept();
    const running: Promise<unknown>[] = [];
    try {
      for (let round = 0; round < rounds; round++) {
        await change(round);
        if (chance.draw(`${round}, message`) < 0.6)
          for (const copy of [1, 2])
            running.push(
              faulty.run(`round ${round}, worker ${copy}`, () => work({ organizationId: org }, invocation())),
            );
        await Promise.race([Promise.all(running), pause(20)]);
        if (round % 10 === 9) {
          await Promise.all(running);
          restore();
          await settle();
          if (round === 9) await setVerified(org, created.id, true);
          // People disable some who are here.
          const active = (await emailsNow()).filter(({ isActive }) => isActive);
          const one = active[Math.floor(chance.draw(`${round}, by hand`) * active.length)];
          if (one !== undefined) {
            await setActive(org, one.id, false, administrator);
            disabledByHand.add(one.email);
          }
          restore = faulty.intercept();
        }
      }
      await Promise.all(running);
    } finally {
      restore();
    }
    await settle();

    const rows = new Map((await emailsNow()).map((row) => [row.email, row]));
    for (const email of addresses) {
      const { isNamed, first } = saidOf(all, email);
      const row = rows.get(email);
      if (first === undefined) {
        // Who left before a worker ran was never watched.
        if (row !== undefined) expect(row).toMatchObject({ email, isActive: false });
        if (row !== undefined && isNamed) expect(row).toMatchObject({ email, hasLeft: true });
        continue;
      }
      expect(row, email).toBeDefined();
      expect(row).toMatchObject({
        email,
        ownerName: first.displayName,
        team: { name: first.department },
        hasLeft: false,
        ...(!disabledByHand.has(email) && { isActive: true }),
      });
    }
    for (const { token, users } of all) {
      const { body } = await scimRequest(token, "GET", "Users");
      const found = (body.Resources as { userName: string; active: boolean }[]).map(
        ({ userName, active }) => `${userName} ${active}`,
      );
      expect(found.sort()).toEqual(
        [...users.values()].map(({ userName, active }) => `${userName} ${active}`).sort(),
      );
    }
    expect(await activeCount(org)).toBe([...rows.values()].filter(({ isActive }) => isActive).length);
    expect((await audit(org)).differences).toEqual([]);
    console.log(`DIRECTORY_SEED=${seed}`, faulty.counts);
  },
);
