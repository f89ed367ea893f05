import dns from "node:dns/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Actor } from "../../../shared/access/activity/actor.ts";
import * as log from "../../../shared/access/activity/log.ts";
import { deliveries } from "../../../shared/alerting/deliveries/delivery.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../../shared/aws/table/patience.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import * as domainRemovals from "../../../shared/monitoring/domains/domain-removal.ts";
import {
  changes,
  check,
  type Happening,
  provenDomain,
  type State,
  setVerified,
  stateOf,
} from "../../../shared/monitoring/domains/proof.ts";
import { recordOf } from "../../../shared/monitoring/domains/proof-record.ts";
import * as deletion from "../../../shared/operations/deletion.ts";
import { createChannel } from "../../alerting/channels.ts";
import { type Answer, type NameServer, startNameServer } from "../../alerting/name-server.ts";
import {
  createOrganization,
  runOutbox,
  sweepNow,
  takeMessages,
  useWorkers,
} from "../../scanning/in-process-workers.ts";

useWorkers();

/** TXT records by name; a test may change them at any time. */
const records = new Map<string, Answer>();
let nameServer: NameServer;
beforeAll(async () => {
  nameServer = await startNameServer(({ name }) => records.get(name) ?? "no such name");
  process.env.PROOF_NAME_SERVER = nameServer.address;
});
afterAll(async () => {
  delete process.env.PROOF_NAME_SERVER;
  await nameServer.close();
});

const ada: Actor = { type: "api_key", id: 1, label: "Key" };
const day = 24 * 60 * 60 * 1_000;

let count = 0;
let name: string;
beforeEach(() => {
  name = `n${++count}.example`;
});

type Added = { org: number; domain: domains.Domain };

const add = async (): Promise<Added> => {
  const org = await createOrganization({});
  const domain = await domains.create(org, { name, verified: false }, { proof: ada });
  if (domain === "exists") throw new Error("The domain exists");
  return { org, domain };
};
const publish = (...of: Added[]) => {
  records.set(
    `_breach-monitor.${name}`,
    of.map(({ domain }) => recordOf(domain).value),
  );
};
const unpublish = () => records.delete(`_breach-monitor.${name}`);
const checkNow = ({ org, domain }: Added) => check(org, domain.id, ada);
const read = async ({ org, domain }: Added) => (await domains.get(org, domain.id)) as domains.Domain;
const actions = async ({ org }: Added) =>
  (await log.list(org, { limit: 50, offset: 0 }, new Date())).activity.map(({ action, actor }) => [
    action,
    actor.type,
  ]);

/** Moves what the domain's row says of times back, as if this much time had passed. */
const pass = async ({ org, domain }: Added, milliseconds: number) => {
  const row = await read({ org, domain });
  const earlier = (time: string | undefined) =>
    time && new Date(Date.parse(time) - milliseconds).toISOString();
  await table.update(keys.domain(org, domain.id), {
    set: {
      createdAt: earlier(row.createdAt),
      lookedUpAt: earlier(row.lookedUpAt),
      missingSince: earlier(row.missingSince),
      dueAt: earlier(row.dueAt),
    },
  });
};

describe("the record of a domain", () => {
  test("is looked up for a row of a domain, whatever else is due", async () => {
    const added = await add();
    records.set("_breach-monitor.elsewhere.example", [recordOf(added.domain).value]);
    // A role that may not write domains can write this row.
    await table.put({
      ...added.domain,
      ...keys.team(added.org, 1),
      name: "elsewhere.example",
      createdAt: new Date(0).toISOString(),
      dueShard: "DOMAIN-PROOF#0",
      dueAt: new Date(0).toISOString(),
    });
    await sweepNow();
    expect(await read(added)).toMatchObject({ verified: false });
    await table.remove(keys.team(added.org, 1));
  });

  test("stays as it was if name servers fail or do not answer", async () => {
    const added = await add();
    publish(added);
    await checkNow(added);
    const before = await read(added);
    const closed = await startNameServer(() => "silence");
    await closed.close();
    for (const [answer, server] of [
      ["failure", nameServer],
      ["silence", nameServer],
      ["silence", closed],
    ] as const) {
      records.set(`_breach-monitor.${name}`, answer);
      process.env.PROOF_NAME_SERVER = server.address;
      await expect(checkNow(added)).rejects.toMatchObject({
        refusal: "dnsUnavailable",
        headers: { "Retry-After": expect.stringMatching(/^\d+$/) },
      });
      expect(await read(added)).toEqual(before);
    }
    process.env.PROOF_NAME_SERVER = nameServer.address;
  });

  test("is asked of the system's name servers where none is named", async () => {
    const added = await add();
    publish(added);
    const before = dns.getServers();
    delete process.env.PROOF_NAME_SERVER;
    dns.setServers([nameServer.address]);
    expect(await checkNow(added)).toMatchObject({ isVerified: true });
    dns.setServers(before);
    process.env.PROOF_NAME_SERVER = nameServer.address;
  });
});

describe("a domain in the state", () => {
  const sweepAfter = async (added: Added, milliseconds: number) => {
    await pass(added, milliseconds);
    await sweepNow();
  };
  const intoState: Record<State, (added: Added) => Promise<unknown>> = {
    unverified: async () => {},
    proved: async (added) => {
      publish(added);
      await checkNow(added);
    },
    missing: async (added) => {
      await intoState.proved(added);
      unpublish();
      await sweepAfter(added, day);
    },
    operator: ({ org, domain }) => setVerified(org, domain.id, true),
  };
  const otherProves = async () => {
    const other = await add();
    publish(other);
    await checkNow(other);
  };
  const happen: Record<Happening, (added: Added) => Promise<unknown>> = {
    there: async (added) => {
      publish(added);
      await checkNow(added);
    },
    gone: async (added) => {
      unpublish();
      await checkNow(added);
    },
    lost: async (added) => {
      unpublish();
      await sweepAfter(added, 3 * day);
    },
    taken: async (added) => {
      await otherProves();
      await expect(checkNow(added)).rejects.toMatchObject({ refusal: "domainTaken" });
    },
    outproved: otherProves,
    verify: ({ org, domain }) => setVerified(org, domain.id, true),
    unverify: ({ org, domain }) => setVerified(org, domain.id, false),
  };
  const cases = (Object.keys(changes) as State[]).flatMap((from) =>
    (Object.keys(happen) as Happening[])
      // A proved name is nobody else's, and for an operator's domain nobody asks whose the name is.
      .filter((happening) => happening !== "taken" || from === "unverified")
      .map((happening) => [from, happening] as const),
  );

  test.each(cases)("%s is after %s as the table says", async (from, happening) => {
    const added = await add();
    await intoState[from](added);
    expect(stateOf(await read(added))).toBe(from);
    const before = (await actions(added)).length;
    await happen[happening](added);
    const to = changes[from][happening] ?? from;
    expect(stateOf(await read(added))).toBe(to);
    const isTold = (to === "proved" && from === "unverified") || ["lost", "outproved"].includes(happening);
    const told = isTold && to !== from && to !== "missing" ? 1 : 0;
    expect(await actions(added)).toHaveLength(before + told);
    await takeMessages("outbox");
  });
});

describe("a wanted name", () => {
  const proved = async () => {
    const [first, second] = [await add(), await add()];
    publish(first);
    await checkNow(first);
    return [first, second] as const;
  };

  test("stays with the first as long as its record is there", async () => {
    const [first, second] = await proved();
    await expect(checkNow(second)).rejects.toMatchObject({ refusal: "domainTaken" });
    publish(first, second);
    await expect(checkNow(second)).rejects.toMatchObject({ refusal: "domainTaken" });
    expect(await read(second)).toMatchObject({ verified: false, lookedUpAt: expect.any(String) });
    expect(await read(first)).toMatchObject({ verified: true });
  });

  test("goes to the second at once when only its record is there", async () => {
    const [first, second] = await proved();
    // A channel that is there before would be told of the other.
    for (const notifyOnScanError of [false, true]) {
      await createChannel(first.org, {}, undefined, { notifyOnNewBreach: false, notifyOnScanError });
    }
    publish(second);
    expect(await checkNow(second)).toMatchObject({ isVerified: true });
    expect(await read(first)).toMatchObject({ verified: false, verifiedAt: null, planState: "failed" });
    expect(await provenDomain(name)).toMatchObject({ organizationId: second.org });
    expect((await actions(first))[0]).toEqual(["domain.unverified", "system"]);
    await runOutbox();
    const { items } = await deliveries.page(first.org, { limit: 10, offset: 0 });
    expect(items.map(({ event }) => event)).toEqual([
      { type: "scan_error", error: expect.stringContaining(`${name} is no longer verified`) },
    ]);
  });

  test("goes to one of many that prove it at once", async () => {
    const all = await Promise.all(Array.from({ length: 6 }, add));
    publish(...all);
    const results = await withTimeOf(60_000, () => Promise.allSettled(all.map(checkNow)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const verified = (await Promise.all(all.map(read))).filter((domain) => domain.verified);
    expect(verified).toHaveLength(1);
    expect(await provenDomain(name)).toMatchObject({ domainId: verified[0]?.id });
  });

  test("is free when the first removes its domain, loses it, or is deleted", async () => {
    for (const leave of [
      ({ org, domain }: Added) => domainRemovals.remove(org, domain.id, ada),
      ({ org, domain }: Added) => setVerified(org, domain.id, false),
      ({ org, domain }: Added) => setVerified(org, domain.id, true),
      ({ org }: Added) => deletion.begin(org),
    ]) {
      name = `n${++count}.example`;
      const [first, second] = await proved();
      publish(first, second);
      await leave(first);
      expect(await checkNow(second)).toMatchObject({ isVerified: true });
    }
  });

  test("an organization that is deleted leaves no claim", async () => {
    const [first] = await proved();
    await deletion.begin(first.org);
    const mayGoOn = () => true;
    await deletion.resume(keys.organization(first.org), 0, mayGoOn);
    await deletion.resume(keys.organization(first.org), 0, mayGoOn);
    expect(await provenDomain(name)).toBeUndefined();
  });
});

describe("the daily look-up", () => {
  test("verifies what is proved, and comes once a day at most", async () => {
    const added = await add();
    publish(added);
    await sweepNow();
    expect(await read(added)).toMatchObject({ verified: false });
    expect((await read(added)).lookedUpAt).toBeUndefined();
    await pass(added, day);
    await sweepNow();
    expect(await read(added)).toMatchObject({ verified: true, verifiedBy: "record" });
    expect((await actions(added))[0]).toEqual(["domain.verified", "system"]);
    const asked = nameServer.queries.length;
    await sweepNow();
    await pass(added, day - 60_000);
    await sweepNow();
    expect(nameServer.queries).toHaveLength(asked);
  });

  test("unverifies a domain whose record is missing for three days", async () => {
    const added = await add();
    publish(added);
    await checkNow(added);
    unpublish();
    const passDay = async () => {
      await pass(added, day / 2);
      // A look-up by hand decides nothing about that, and does not postpone the next one of the sweep.
      expect(await checkNow(added)).toEqual({ isVerified: true, found: [] });
      await pass(added, day / 2);
      await sweepNow();
    };
    for (const _ of [1, 2, 3]) {
      await passDay();
      expect(await read(added)).toMatchObject({ verified: true, missingSince: expect.any(String) });
    }
    await passDay();
    expect(await read(added)).toMatchObject({ verified: false, planState: "failed" });
    expect((await actions(added))[0]).toEqual(["domain.unverified", "system"]);
    expect(await provenDomain(name)).toBeUndefined();

    publish(added);
    await pass(added, day);
    await sweepNow();
    expect(await read(added)).toMatchObject({ verified: true });
  });

  test("forgets an absence that ended, or that nobody could see", async () => {
    const added = await add();
    publish(added);
    await checkNow(added);
    unpublish();
    await pass(added, day);
    await sweepNow();
    records.set(`_breach-monitor.${name}`, "failure");
    for (const _ of [1, 2, 3, 4]) {
      await pass(added, day);
      await sweepNow();
    }
    expect(await read(added)).toMatchObject({ verified: true });
    publish(added);
    await pass(added, day);
    await sweepNow();
    expect((await read(added)).missingSince).toBeUndefined();
  });

  test("leaves alone what an operator verified or unverified", async () => {
    const { org } = await add();
    const operators = (await domains.create(org, { name: `o.${name}`, verified: true })) as domains.Domain;
    const added = { org, domain: operators };
    expect(await checkNow(added)).toEqual({ isVerified: true, found: [] });
    await pass(added, 10 * day);
    const asked = nameServer.queries.length;
    await sweepNow();
    expect(await read(added)).toMatchObject({ verified: true });
    await setVerified(org, operators.id, false);
    await pass(added, 10 * day);
    await sweepNow();
    expect(await read(added)).toMatchObject({ verified: false });
    expect(nameServer.queries.filter((query) => query.name.endsWith(`o.${name}`)).length).toBe(1);
    expect(asked).toBeGreaterThan(0);
  });
});
