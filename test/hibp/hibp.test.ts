import { DeleteParameterCommand, PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as hibp from "../../shared/hibp/hibp.ts";
import { failureOf, reply, startUpstream, type UpstreamServer } from "./upstream-server.ts";

let upstream: UpstreamServer;
const address = "first.last+tag/x@a.example";

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.stop());
beforeEach(() => {
  upstream.requests.length = 0;
  upstream.answerAll(404);
});

/** Replaces the stored key; undefined removes it. */
const storeKey = async (Value: string | undefined): Promise<void> => {
  const parameter = { Name: process.env.HIBP_API_KEY_PARAMETER };
  if (Value === undefined) await new SSMClient().send(new DeleteParameterCommand(parameter));
  else
    await new SSMClient().send(
      new PutParameterCommand({ ...parameter, Value, Type: "SecureString", Overwrite: true }),
    );
};

const failure = async (call: Promise<unknown>): Promise<hibp.UpstreamFailure> => {
  const found = await failureOf(call);
  expect(`${found.message} ${found.stack} ${JSON.stringify(found)}`).not.toMatch(
    /key-\d|first\.last|first%2E|tag/,
  );
  expect(found.cause).toBeUndefined();
  return found;
};

describe("requests", () => {
  test("carry the key and a user agent, and encode the address", async () => {
    await hibp.breachedAccount(address);
    await hibp.breachedDomain("a.example");
    upstream.answerAll(200, [{ Name: "A" }]);
    await hibp.breaches();
    expect(upstream.requests.map(({ path }) => path)).toEqual([
      `breachedaccount/${encodeURIComponent(address)}?truncateResponse=true`,
      "breacheddomain/a.example",
      "breaches",
    ]);
    for (const { headers } of upstream.requests) {
      expect(headers["hibp-api-key"]).toBe("key-1");
      expect(headers["user-agent"]).toBe("breach-monitor");
    }
  });

  test("name the deployment's contact in the user agent", async () => {
    vi.stubEnv("HIBP_CONTACT", "security@acme.example");
    await hibp.breachedAccount(address);
    vi.unstubAllEnvs();
    expect(upstream.requests[0]?.headers["user-agent"]).toBe("breach-monitor (security@acme.example)");
  });

  test("the latest breach is asked for without the key, and must be a breach", async () => {
    upstream.answerAll(200, { Name: "A", Title: "Title of A" });
    expect(await hibp.latestBreach()).toMatchObject({ name: "A", title: "Title of A" });
    expect(upstream.requests).toMatchObject([{ path: "latestbreach" }]);
    expect(upstream.requests[0]?.headers).not.toHaveProperty("hibp-api-key");
    for (const [status, body] of [
      [404, ""],
      [429, ""],
      [503, ""],
      [200, "<html></html>"],
      [200, "[]"],
      [200, "null"],
      [200, '{"Name":""}'],
      [200, `{"Name":"A","Description":"${"x".repeat(1_000_000)}"}`],
    ] as const) {
      upstream.answerAll(status, body);
      await failure(hibp.latestBreach());
    }
  });

  test("read the key once, not at every call", async () => {
    await hibp.breachedAccount(address);
    await storeKey("key-0");
    await Promise.all([1, 2, 3, 4].map((n) => hibp.breachedAccount(`${n}@a.example`)));
    expect(new Set(upstream.requests.map(({ headers }) => headers["hibp-api-key"]))).toEqual(
      new Set(["key-1"]),
    );
  });

  test("never follow a redirect, which would carry the key elsewhere", async () => {
    upstream.answerAll(302, "", { location: "/api/v3/elsewhere" });
    expect((await failure(hibp.breachedAccount(address))).kind).toBe("unavailable");
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("a rotated key", () => {
  test("is read after a 401, and the request is repeated with it", async () => {
    await storeKey("key-2");
    upstream.answer = (_path, request, response) =>
      request.headers["hibp-api-key"] === "key-2"
        ? reply(response, 200, [{ Name: "A" }])
        : reply(response, 401);
    expect(await hibp.breachedAccount(address)).toEqual(["A"]);
    expect(upstream.requests).toHaveLength(2);
  });

  test("is not sent again when the parameter still holds the refused key", async () => {
    upstream.answerAll(401);
    expect((await failure(hibp.breachedAccount(address))).kind).toBe("unauthorized");
    expect(upstream.requests).toHaveLength(1);
  });

  test("may have white space around it, as people paste it", async () => {
    upstream.answer = (_path, request, response) =>
      request.headers["hibp-api-key"] === "key-3"
        ? reply(response, 200, [{ Name: "A" }])
        : reply(response, 401);
    await storeKey(" key-3\r\n");
    expect(await hibp.breachedAccount(address)).toEqual(["A"]);
  });

  test("that is unusable or unreadable fails, and the message hides it", async () => {
    upstream.answerAll(401);
    for (const key of ["key-3\nx: y", "  ", undefined]) {
      await storeKey(key);
      expect(await failure(hibp.breachedAccount(address))).toMatchObject({
        kind: "unauthorized",
        message: `Store an HIBP API key in the parameter ${process.env.HIBP_API_KEY_PARAMETER}: there is no usable one`,
      });
    }
    await storeKey("key-2");
  });
});

describe("a failed look-up", () => {
  test.each([
    [400, "bad_request"],
    [401, "unauthorized"],
    [402, "no_subscription"],
    [403, "forbidden"],
    [429, "rate_limited"],
    [500, "unavailable"],
    [204, "unavailable"],
  ] as const)("status %i is %s", async (status, kind) => {
    upstream.answerAll(status);
    expect((await failure(hibp.breachedAccount(address))).kind).toBe(kind);
    expect((await failure(hibp.breachedDomain("a.example"))).kind).toBe(kind);
  });

  test.each([400, 404, 405, 410, 422, 451])("the list of domains is refused by %i", async (status) => {
    upstream.answerAll(status, '{"message":"Not in your plan"}');
    expect((await failure(hibp.subscribedDomains())).kind).toBe("bad_request");
  });

  test.each([408, 502])("%i says nothing about the list of domains, nor does a page", async (status) => {
    upstream.answerAll(status);
    expect((await failure(hibp.subscribedDomains())).kind).toBe("unavailable");
    upstream.answerAll(404, "<!DOCTYPE html>");
    expect((await failure(hibp.subscribedDomains())).kind).toBe("unavailable");
  });

  test.each([
    ["", "an empty body"],
    ["<html>checking your browser</html>", "a page"],
    ['[{"Name":"A"}', "cut JSON"],
    ["null", "null"],
    ['"A"', "a string"],
    ['[{"Title":"A"}]', "an entry without a name"],
    [`[{"Name":"${"x".repeat(301)}"}]`, "an endless name"],
  ])("an answer of %s", async (body) => {
    upstream.answerAll(200, body);
    expect((await failure(hibp.breachedAccount(address))).kind).toBe("unavailable");
  });

  test.each(["null", "[]", '{"a":null}', '{"a":[1]}', '{"a":"A"}', '"x"'])(
    "a domain answer of %s",
    async (body) => {
      upstream.answerAll(200, body);
      expect((await failure(hibp.breachedDomain("a.example"))).kind).toBe("unavailable");
    },
  );

  test("by a reset, a cut-off answer, or an address that fits no url", async () => {
    upstream.answer = (_path, request) => request.socket.destroy();
    expect((await failure(hibp.breachedAccount(address))).kind).toBe("unavailable");
    upstream.answer = (_path, request, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write('[{"Name":"A"}]', () => request.socket.destroy());
    };
    expect((await failure(hibp.breachedAccount(address))).kind).toBe("unavailable");
    expect((await failure(hibp.breachedAccount("\ud800@a.example"))).kind).toBe("bad_request");
  });

  test("no answer within ten seconds", async () => {
    const timeout = AbortSignal.timeout;
    const asked = vi
      .spyOn(AbortSignal, "timeout")
      .mockImplementation((ms) => timeout.call(AbortSignal, ms / 100));
    upstream.answer = () => {};
    expect(await failure(hibp.breachedAccount(address))).toMatchObject({
      kind: "unavailable",
      message: "HIBP did not answer breachedaccount within 10 seconds",
    });
    expect(asked).toHaveBeenCalledWith(10_000);
    asked.mockRestore();
  });

  test("an endless answer is cut off", async () => {
    let sent = 0;
    upstream.answer = (_path, request, response) => {
      response.writeHead(200);
      const block = Buffer.alloc(1_000_000, " ");
      const push = (): void => {
        if (request.socket.destroyed) return;
        sent++;
        response.write(block, push);
      };
      push();
    };
    expect((await failure(hibp.breachedAccount(address))).message).toContain("too large");
    expect(sent).toBeLessThan(30);
  });

  test("a 404 is an answer to look-ups only", async () => {
    expect(await hibp.breachedAccount(address)).toEqual([]);
    expect(await hibp.breachedDomain("a.example")).toEqual(new Map());
    expect((await failure(hibp.breaches())).kind).toBe("unavailable");
    expect((await failure(hibp.subscribedDomains())).kind).toBe("bad_request");
    expect((await failure(hibp.subscriptionStatus())).kind).toBe("no_subscription");
  });

  test("is a web page: neither a plan's refusal nor a clean answer", async () => {
    for (const [status, kind] of [
      [403, "blocked"],
      [404, "unavailable"],
      [503, "unavailable"],
    ] as const) {
      for (const [body, type] of [
        ["\n<!DOCTYPE html><title>Attention Required!</title>", "text/plain"],
        ["", "text/html; charset=UTF-8"],
      ] as const) {
        upstream.answerAll(status, body, { "content-type": type });
        expect((await failure(hibp.breachedAccount(address))).kind).toBe(kind);
        expect((await failure(hibp.breachedDomain("a.example"))).kind).toBe(kind);
        expect((await failure(hibp.subscriptionStatus())).kind).toBe(kind);
      }
    }
  });
});

describe("Retry-After", () => {
  test.each([
    ["2", 2],
    ["1.2", 2],
    ["0", 1],
    [undefined, 60],
    ["soon", 60],
    ["-3", 60],
    ["99999999999", 86_400],
  ])("%s is %i seconds", async (header, seconds) => {
    upstream.answerAll(429, "", header === undefined ? {} : { "retry-after": header });
    expect((await failure(hibp.breachedAccount(address))).retryAfterSeconds).toBe(seconds);
  });

  test("may be a date", async () => {
    upstream.answerAll(429, "", { "retry-after": new Date(Date.now() + 20_000).toUTCString() });
    const { retryAfterSeconds } = await failure(hibp.breachedAccount(address));
    expect(retryAfterSeconds).toBeGreaterThan(17);
    expect(retryAfterSeconds).toBeLessThanOrEqual(20);
  });
});

describe("answers", () => {
  test("for a domain have aliases in lower case, even odd ones, and breaches", async () => {
    upstream.answerAll(200, '{"Bob":["A"],"bob":["B","A"],"__proto__":["A"],"constructor":["C"]}');
    const aliases = await hibp.breachedDomain("a.example");
    expect([...aliases]).toEqual([
      ["bob", ["A", "B"]],
      ["__proto__", ["A"]],
      ["constructor", ["C"]],
    ]);
  });

  test.each([
    ["2019-05-06", "2019-05-06"],
    ["2019-05-06T00:00:00Z", "2019-05-06"],
    ["0001-01-01T00:00:00", "1970-01-01"],
    ["1900-01-01", "1970-01-01"],
    ["May 2019", "1970-01-01"],
    [null, "1970-01-01"],
  ])("have the date %j of a breach as %s", async (BreachDate, breachDate) => {
    upstream.answerAll(200, [{ Name: "A", BreachDate }]);
    expect(await hibp.breaches()).toMatchObject([{ breachDate }]);
  });

  test("with malformed breaches keep every usable field", async () => {
    upstream.answerAll(200, [
      { Name: "A", Title: 5, PwnCount: 1.5, BreachDate: "2020-02-31", DataClasses: ["x", 3], Extra: {} },
      { Title: "nameless" },
      {
        Name: "B",
        Description: `${"é".repeat(16_383)}😀`,
        IsSensitive: true,
        ModifiedDate: "2020-01-01T00:00:00Z",
      },
    ]);
    const [a, b, ...rest] = await hibp.breaches();
    expect(rest).toEqual([]);
    expect(a).toMatchObject({
      name: "A",
      title: "A",
      pwnCount: 0,
      breachDate: "1970-01-01",
      dataClasses: ["x"],
    });
    expect(b?.description).toHaveLength(16_384);
    expect(b?.description.isWellFormed()).toBe(true);
    expect(b).toMatchObject({
      isSensitive: true,
      isRetired: false,
      modifiedDate: "2020-01-01T00:00:00.000Z",
    });
  });
});
