import { DeleteParameterCommand, PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { toContext } from "../../../shared/access/api/principal.ts";
import { startParameterStore } from "../../alerting/parameter-store.ts";
import { type Engine, startEngine } from "../../aws/table/engine.ts";

const Name = "/breach-monitor/test/proxy-secret";
const secret = "0123456789abcdef".repeat(4);
const newer = "fedcba9876543210".repeat(4);

let engine: Engine;
let store: Awaited<ReturnType<typeof startParameterStore>>;
let operator: SSMClient;
beforeAll(async () => {
  [engine, store] = await Promise.all([startEngine(), startParameterStore()]);
  operator = new SSMClient({});
});
afterAll(() => Promise.all([engine.stop(), store.close()]));

const put = (Value: string) =>
  operator.send(new PutParameterCommand({ Name, Type: "SecureString", Value, Overwrite: true }));

/** A new instance of the module, which has read nothing yet. */
let viewerAddress: typeof import("../../../shared/access/api/source-address.ts").viewerAddress;
let printed: string[];
beforeEach(async () => {
  vi.stubEnv("TRUSTED_PROXY_SECRET_PARAMETER", Name);
  vi.resetModules();
  ({ viewerAddress } = await import("../../../shared/access/api/source-address.ts"));
  printed = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
  await put(secret);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const viewerOf = (
  values: string | string[],
  headers: Record<string, string[]> = { "X-Proxy-Secret": [secret] },
) => viewerAddress({ multiValueHeaders: { ...headers, "CloudFront-Viewer-Address": [values].flat() } });

const goOn = (milliseconds: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds });

describe("with the right secret", () => {
  test.each([
    ["198.51.100.10:46532", "198.51.100.10"],
    ["2001:db8:85a3:8d3:1319:8a2e:370:7348:443", "2001:db8:85a3:8d3::/64"],
    ["2001:DB8::1:443", "2001:db8::/64"],
    ["2001:0db8:0000:0001:0000:0000:0000:0001:443", "2001:db8:0:1::/64"],
    ["::ffff:198.51.100.10:443", "198.51.100.10"],
  ])("%s is a viewer of %s", async (value, expected) => {
    expect(await viewerOf(value)).toBe(expected);
  });

  test.each([
    "",
    "198.51.100.10",
    "198.51.100.10:",
    "198.51.100.010:443",
    "198.51.100:443",
    "0x7f.1:443",
    "3325256714:443",
    "[2001:db8::1]:443",
    "fe80::1%eth0:443",
    "2001:db8::1:2:3:4:5:6:7:443",
    "203.0.113.1, 198.51.100.10:443",
    "203.0.113.1:443, 198.51.100.10:443",
    "203.0.113.1:443\n",
    "example.com:443",
  ])("%j is no address", async (value) => {
    expect(await viewerOf(value)).toBeUndefined();
  });

  test("no address or two addresses are none", async () => {
    expect(await viewerOf([])).toBeUndefined();
    expect(await viewerOf(["203.0.113.1:443", "198.51.100.10:443"])).toBeUndefined();
    expect(await viewerAddress({ multiValueHeaders: null })).toBeUndefined();
  });
});

describe("nobody is believed", () => {
  const viewer = "198.51.100.10:443";

  test.each([
    ["without a secret", {}],
    ["with an empty one", { "x-proxy-secret": [""] }],
    ["with another one", { "x-proxy-secret": [newer] }],
    ["with a part of it", { "x-proxy-secret": [secret.slice(0, -1)] }],
    ["who gives it twice", { "x-proxy-secret": [secret, secret] }],
    ["who gives it twice, in two cases", { "x-proxy-secret": [secret], "X-Proxy-Secret": [secret] }],
    ["who gives it twice in one value", { "x-proxy-secret": [`${secret}, ${secret}`] }],
  ])("%s", async (_, headers: Record<string, string[]>) => {
    expect(await viewerOf(viewer, headers)).toBeUndefined();
  });

  test("where no proxy is set up", async () => {
    vi.stubEnv("TRUSTED_PROXY_SECRET_PARAMETER", undefined);
    expect(await viewerOf(viewer)).toBeUndefined();
    expect(printed).toEqual([]);
  });

  test.each(["short", `${secret},`, `${secret},short`])("who knows a part of %j", async (value) => {
    await put(value);
    for (const each of ["", "short", secret]) {
      expect(await viewerOf(viewer, { "x-proxy-secret": [each] })).toBeUndefined();
    }
    expect(printed.map((line) => JSON.parse(line))).toMatchObject([
      { level: "ERROR", parameter: Name, error: "SecretTooShort" },
    ]);
    expect(printed.join("")).not.toContain(secret);
  });
});

describe("the parameter", () => {
  const viewer = "198.51.100.10:443";
  const by = (given: string) => viewerOf(viewer, { "X-Proxy-Secret": [given] });

  test("that cannot be read is an error in the log, and is tried again later", async () => {
    await operator.send(new DeleteParameterCommand({ Name }));
    expect(await by(secret)).toBeUndefined();
    await put(secret);
    expect(await by(secret)).toBeUndefined();
    expect(printed.map((line) => JSON.parse(line))).toMatchObject([
      { level: "ERROR", parameter: Name, error: "ParameterNotFound" },
    ]);
    goOn(11_000);
    expect(await by(secret)).toBe("198.51.100.10");
  });

  test("that was read once goes on counting while it cannot be read", async () => {
    expect(await by(secret)).toBe("198.51.100.10");
    await operator.send(new DeleteParameterCommand({ Name }));
    goOn(5 * 60_000 + 1);
    expect(await by(secret)).toBe("198.51.100.10");
    expect(await by(newer)).toBeUndefined();
    expect(printed).toHaveLength(1);
  });

  test("may hold two secrets, and one that was replaced ends after five minutes", async () => {
    expect(await by(secret)).toBe("198.51.100.10");
    await put(`${newer},\n${secret}\n`);
    goOn(5 * 60_000 + 1);
    expect(await by(newer)).toBe("198.51.100.10");
    expect(await by(secret)).toBe("198.51.100.10");
    await put(newer);
    goOn(5 * 60_000 + 1);
    expect(await by(newer)).toBe("198.51.100.10");
    expect(await by(secret)).toBeUndefined();
    expect(printed).toEqual([]);
  });
});

describe("the authorizer", () => {
  /** Invokes it without a credential, as a proxy with the given secret. */
  const invoke = async (resource: string, given: string) => {
    vi.stubEnv("PATHS_FOR_ANYONE", '["/dashboard/sign-in"]');
    const { handler } = await import("../../../functions/authorize/handler.ts");
    return await handler({
      methodArn: "arn:aws:execute-api:us-east-1:000000000000:local/api/GET/",
      httpMethod: "GET",
      resource,
      multiValueHeaders: { "X-Proxy-Secret": [given], "CloudFront-Viewer-Address": ["2001:db8::1:443"] },
      requestContext: { requestId: "id", identity: { sourceIp: "203.0.113.7" } },
    } as unknown as APIGatewayRequestAuthorizerEvent);
  };

  test("logs whose address counted of a 401, and tells the access log of others", async () => {
    await expect(invoke("/v1/emails", secret)).rejects.toThrow("Unauthorized");
    expect(printed.map((line) => JSON.parse(line))).toMatchObject([
      { route: "/v1/emails", status: 401, viewerAddress: "2001:db8::/64" },
    ]);
    expect(await invoke("/dashboard/sign-in", secret)).toMatchObject({
      context: { ...toContext("anyone"), viewerAddress: "2001:db8::/64" },
    });
  });

  test("logs nothing of it where the address of the connection counted", async () => {
    await expect(invoke("/v1/emails", newer)).rejects.toThrow("Unauthorized");
    expect(printed.map((line) => JSON.parse(line))).toMatchObject([{ status: 401 }]);
    expect(printed.join()).not.toContain("viewerAddress");
    expect((await invoke("/dashboard/sign-in", newer)).context).toEqual(toContext("anyone"));
  });
});
