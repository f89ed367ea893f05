import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { UpstreamFailure } from "../../shared/hibp/hibp.ts";
import * as limiter from "../../shared/hibp/limiter.ts";
import * as subscription from "../../shared/hibp/subscription.ts";
import { noSearchOf, rate } from "../../shared/hibp/subscription-state.ts";
import { lookUpAccounts, withUpstream } from "../../shared/hibp/upstream.ts";
import { useEngine } from "../aws/table/engine.ts";
import { failureOf as failure, reply, startUpstream, type UpstreamServer } from "./upstream-server.ts";
import { passWhatIsWaitedFor } from "./virtual-time.ts";

useEngine();
let upstream: UpstreamServer;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(async () => {
  await upstream.stop();
});
beforeEach(async () => {
  upstream.requests.length = 0;
  for (const row of await table.query<{ pk: string; sk: string }>({ pk: keys.subscription().pk })) {
    await table.remove(row);
  }
});

describe("withUpstream", () => {
  let undo: () => void;
  beforeEach(() => {
    undo = passWhatIsWaitedFor();
  });
  afterEach(() => undo());

  test("waits for a 429's Retry-After, then makes the call again", async () => {
    const startedAt = Date.now();
    let calls = 0;
    const answer = await withUpstream(
      10,
      async () => {
        if (++calls === 1) throw new UpstreamFailure("rate_limited", "", 1);
        return "answer";
      },
      { waitSeconds: 10 },
    );
    expect(answer).toBe("answer");
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_000);
  });

  test("fails with a time to come back when the grant would come too late", async () => {
    await limiter.pause(100);
    const call = async (): Promise<never> => {
      throw new Error("called");
    };
    const late = await failure(withUpstream(10, call, { waitSeconds: 5 }));
    expect(late.kind).toBe("rate_limited");
    expect(late.retryAfterSeconds).toBeGreaterThanOrEqual(100);
  });

  test.each([
    ["rate_limited", 3],
    ["unavailable", 3],
    ["unauthorized", 1],
    ["bad_request", 1],
  ] as const)("retries a failure as %s, with a grant for each of its calls: %i", async (kind, times) => {
    let calls = 0;
    const call = async (): Promise<never> => {
      calls++;
      throw new UpstreamFailure(kind, "down");
    };
    expect(await failure(withUpstream(10, call, { waitSeconds: 60 }))).toMatchObject({
      kind,
      message: "down",
    });
    expect(calls).toBe(times);
    const row = await table.get<limiter.LimiterRow>(keys.limiter());
    expect(Object.values(row?.grants ?? {}).reduce((sum, count) => sum + count, 0)).toBe(times);
  });
});

describe("lookUpAccounts", () => {
  const addresses = Array.from({ length: 25 }, (_, n) => `person${n}@a.example`);
  const numberOf = (path: string): number => Number(/person(\d+)/.exec(path)?.[1]);

  test("answers in the order of addresses; a 400 fails just that one", async () => {
    upstream.answer = (path, _request, response) => {
      const number = numberOf(path);
      setTimeout(
        () =>
          number === 3
            ? reply(response, 400)
            : number % 2
              ? reply(response, 404)
              : reply(response, 200, [{ Name: `B${number}` }]),
        Math.random() * 20,
      );
    };
    const { answers } = await lookUpAccounts(addresses, 1_000);
    expect(answers).toHaveLength(25);
    answers.forEach((answer, number) => {
      if (number === 3) expect((answer as UpstreamFailure).kind).toBe("bad_request");
      else expect(answer).toEqual(number % 2 ? [] : [`B${number}`]);
    });
  });

  test("sends no more than the rate allows and says when to come back", async () => {
    upstream.answerAll(404);
    const first = await lookUpAccounts(addresses, 10);
    expect(first.answers).toHaveLength(9);
    expect(upstream.requests).toHaveLength(9);
    const second = await lookUpAccounts(addresses.slice(9), 10);
    expect(second.answers).toEqual([]);
    expect(second.waitSeconds).toBeGreaterThan(60);
    expect(upstream.requests).toHaveLength(9);
  });

  test("stops at a 429, pauses the key and answers no later address", async () => {
    upstream.answer = (path, _request, response) =>
      numberOf(path) >= 10 ? reply(response, 429, "", { "retry-after": "7" }) : reply(response, 404);
    const { answers, waitSeconds } = await lookUpAccounts(addresses, 1_000);
    expect(answers).toEqual(Array(10).fill([]));
    expect(waitSeconds).toBeGreaterThanOrEqual(7);
    expect(upstream.requests.length).toBeLessThanOrEqual(18);
    expect((await limiter.reserve(1, 1_000)).granted).toBe(0);
  });

  test("looks up an unanswered address once more, then fails it alone", async () => {
    const refusals = new Map<number, number>();
    upstream.answer = (path, request, response) => {
      const number = numberOf(path);
      refusals.set(number, (refusals.get(number) ?? 0) + 1);
      if (number === 1 && refusals.get(number) === 1) return void request.socket.destroy();
      reply(response, number === 2 ? 503 : 404);
    };
    const { answers } = await lookUpAccounts(addresses.slice(0, 5), 1_000);
    expect(answers[1]).toEqual([]);
    expect((answers[2] as UpstreamFailure).kind).toBe("unavailable");
    expect(answers.filter((answer) => Array.isArray(answer))).toHaveLength(4);
    expect(refusals.get(2)).toBe(2);
  });

  test.each([
    [401, "", "unauthorized"],
    [402, "", "no_subscription"],
    [403, "", "forbidden"],
    [403, "<html>", "blocked"],
  ] as const)("asks about no further address after a refusal (%i %s)", async (status, body, kind) => {
    upstream.answerAll(status, body);
    const { answers, refusal } = await lookUpAccounts(addresses, 1_000);
    expect(answers).toEqual([]);
    expect(refusal?.kind).toBe(kind);
    expect(upstream.requests.length).toBeLessThanOrEqual(8);
  });

  test("sends no request after its grant has expired", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    upstream.answer = (_path, _request, response) => {
      // The first answers come within the grant's time, which then ends.
      if (upstream.requests.length === 12)
        vi.setSystemTime(Date.now() + 1_000 * limiter.grantValiditySeconds);
      reply(response, 404);
    };
    const { answers, waitSeconds } = await lookUpAccounts(addresses, 1_000);
    vi.useRealTimers();
    // Eight look-ups are made at the same time.
    expect(upstream.requests.length).toBeLessThan(12 + 8);
    expect(answers).toHaveLength(upstream.requests.length);
    expect(waitSeconds).toBeGreaterThan(0);
  });
});

describe("the subscription", () => {
  const subscribe = (rpm: number, domains: string[]): void => {
    upstream.answer = (path, _request, response) =>
      path === "subscription/status"
        ? reply(response, 200, { SubscriptionName: "x", Rpm: rpm })
        : reply(
            response,
            200,
            domains.map((DomainName) => ({ DomainName })),
          );
  };
  const age = (seconds: number): Promise<unknown> =>
    table.update(keys.subscription(), { set: { at: new Date(Date.now() - seconds * 1_000).toISOString() } });

  const listedOf = async (domains: string[]): Promise<string[]> => {
    const { coverage } = await subscription.forDomains(domains, { waitSeconds: 1 });
    return [...coverage.listed.keys()];
  };

  test("is fetched once and then kept", async () => {
    subscribe(500, ["A.example", "b.example"]);
    expect(await listedOf(["a.example", "c.example"])).toEqual(["a.example"]);
    expect(await listedOf(["a.example", "c.example"])).toEqual(["a.example"]);
    expect(await rate()).toBe(500);
    expect(upstream.requests.map(({ path }) => path)).toEqual(["subscription/status", "subscribeddomains"]);
  });

  test("asks for a missing domain again after a minute, not sooner", async () => {
    subscribe(500, ["a.example"]);
    await subscription.refresh();
    subscribe(500, ["b.example"]);
    expect(await listedOf(["b.example"])).toEqual([]);
    await age(61);
    expect(await listedOf(["b.example"])).toEqual(["b.example"]);
    expect(await listedOf(["a.example"])).toEqual([]);
    expect(upstream.requests).toHaveLength(4);
  });

  test("may be old while HIBP is silent, not when it refuses the key", async () => {
    subscribe(500, ["a.example"]);
    await subscription.refresh();
    await age(7_200);
    upstream.answerAll(429, "", { "retry-after": "50" });
    expect(await listedOf(["a.example", "b.example"])).toEqual(["a.example"]);
    expect(await rate()).toBe(500);
    for (const [status, kind] of [
      [401, "unauthorized"],
      [404, "no_subscription"],
    ] as const) {
      await table.remove(keys.limiter());
      upstream.answerAll(status);
      expect((await failure(subscription.forDomains(["a.example"]))).kind).toBe(kind);
    }
  });

  test("that has ended is asked about again within the hour", async () => {
    subscribe(500, ["a.example"]);
    await subscription.refresh();
    upstream.answerAll(404);
    expect((await failure(subscription.refresh())).kind).toBe("no_subscription");
    expect((await failure(subscription.forDomains(["a.example"]))).kind).toBe("no_subscription");
    subscribe(500, ["a.example"]);
    expect(await listedOf(["a.example"])).toEqual(["a.example"]);
  });

  test("keeps all fields of both answers, even empty ones", async () => {
    const renewal = "2027-05-30T00:00:00Z";
    const status = {
      SubscriptionName: "Pro 2",
      Description: "For tests.",
      SubscribedUntil: renewal,
      Rpm: 100,
      DomainSearchMaxBreachedAccounts: 50_000,
      MaxBreachedDomains: null,
      IncludesStealerLogs: true,
      IncludesBulkDomainAdd: true,
      IncludesAutoSubdomainVerification: true,
      IncludesCustomerDomains: true,
      IncludesKAnon: true,
    };
    const domain = {
      DomainName: "A.example",
      PwnCount: 7,
      PwnCountExcludingSpamLists: 6,
      PwnCountExcludingSpamListsAtLastSubscriptionRenewal: 5,
      NextSubscriptionRenewal: renewal,
    };
    upstream.answer = (path, _request, response) =>
      reply(response, 200, path === "subscription/status" ? status : [domain, { DomainName: "b.example" }]);
    await subscription.refresh();
    const { coverage } = await subscription.forDomains(["a.example", "b.example"]);
    const subscribedUntil = "2027-05-30T00:00:00.000Z";
    expect(coverage.subscription).toMatchObject({
      plan: "Pro 2",
      description: "For tests.",
      subscribedUntil,
      rpm: 100,
      maxBreachedAccounts: 50_000,
      maxDomains: null,
      includesStealerLogs: true,
      includesBulkDomainAdd: true,
      includesAutoSubdomainVerification: true,
      includesCustomerDomains: true,
      includesKAnon: true,
    });
    const counts = { pwnCount: 7, pwnCountWithoutSpam: 6, pwnCountAtRenewal: 5 };
    expect(coverage.listed.get("a.example")).toMatchObject({ ...counts, nextRenewal: subscribedUntil });
    expect(coverage.listed.get("b.example")).toMatchObject({ pwnCount: null, nextRenewal: null });
  });

  test("is taken for the smallest if HIBP does not tell it", async () => {
    upstream.answerAll(403);
    expect((await failure(subscription.refresh())).kind).toBe("forbidden");
    const { rpm, coverage } = await subscription.forDomains(["a.example"]);
    expect(rpm).toBe(10);
    expect(noSearchOf("a.example", coverage)).toBeUndefined();
  });

  test("holds 2,000 domains and stores only what changes of them", async () => {
    const domains = Array.from({ length: 2_000 }, (_, n) => `department-${n}.subsidiary.example`);
    subscribe(500, domains);
    await subscription.refresh();
    expect(await listedOf(["department-1999.subsidiary.example"])).toHaveLength(1);
    subscribe(500, [...domains.slice(1), "new.example"]);
    await subscription.refresh();
    expect(await listedOf(["department-0.subsidiary.example", "new.example"])).toEqual(["new.example"]);
    expect(JSON.stringify(await table.get(keys.subscription())).length).toBeLessThan(600);
  });
});
