import { createHash } from "node:crypto";
import type { APIGatewayProxyEvent, APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { toContext } from "../../../shared/access/api/principal.ts";
import { sourceAddress, sourceNetwork, viewerAddress } from "../../../shared/access/api/source-address.ts";
import { useEngine } from "../../aws/table/engine.ts";

const secret = "0123456789abcdef".repeat(4);
const newer = "fedcba9876543210".repeat(4);

useEngine();

const know = (...secrets: string[]) => {
  const hashes = secrets.map((each) => createHash("sha256").update(each).digest("hex"));
  vi.stubEnv("TRUSTED_PROXY_SHA256", hashes.join(","));
};
beforeEach(() => know(secret));
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const viewerOf = (
  values: string | string[],
  headers: Record<string, string[]> = { "X-Proxy-Secret": [secret] },
) => viewerAddress({ multiValueHeaders: { ...headers, "CloudFront-Viewer-Address": [values].flat() } });

describe("the address of a connection", () => {
  const from = (sourceIp: string, headers: Record<string, string[]> = {}) =>
    sourceAddress({
      multiValueHeaders: headers,
      requestContext: { identity: { sourceIp } },
    } as unknown as APIGatewayRequestAuthorizerEvent);

  test.each([
    ["198.51.100.10", "198.51.100.10"],
    ["2001:db8:85a3:8d3:1319:8a2e:370:7348", "2001:db8:85a3:8d3::/64"],
    // API Gateway's console sends this.
    ["test-invoke-source-ip", "test-invoke-source-ip"],
  ])("%s counts as %s", (address, expected) => {
    expect(from(address)).toBe(expected);
  });

  test("gives way to a viewer's that a trusted proxy tells", () => {
    const headers = { "X-Proxy-Secret": [secret], "CloudFront-Viewer-Address": ["203.0.113.9:443"] };
    expect(from("198.51.100.10", headers)).toBe("203.0.113.9");
  });
});

describe("the logged network", () => {
  const networkOf = (sourceIp: string, authorizer?: Record<string, string>) =>
    sourceNetwork({
      requestContext: { identity: { sourceIp }, authorizer },
    } as unknown as Pick<APIGatewayProxyEvent, "requestContext">);

  test.each([
    ["198.51.100.10", "198.51.100.0/24"],
    ["198.51.100.255", "198.51.100.0/24"],
    ["2001:db8:85a3:8d3:1319:8a2e:370:7348", "2001:db8:85a3::/48"],
    ["2001:DB8::1", "2001:db8::/48"],
    ["fe80::1%eth0", "fe80::/48"],
    ["::ffff:198.51.100.10", "198.51.100.0/24"],
    ["test-invoke-source-ip", undefined],
    ["", undefined],
  ])("of %s is %s", (address, expected) => {
    expect(networkOf(address)).toBe(expected);
  });

  test.each([
    ["203.0.113.9", "203.0.113.0/24"],
    ["2001:db8:85a3:8d3::/64", "2001:db8:85a3::/48"],
  ])("is that of the authorizer's viewer address %s", (viewerAddress, expected) => {
    expect(networkOf("198.51.100.10", { viewerAddress })).toBe(expected);
    expect(networkOf("198.51.100.10", {})).toBe("198.51.100.0/24");
  });
});

describe("with the right secret", () => {
  test.each([
    ["198.51.100.10:46532", "198.51.100.10"],
    ["2001:db8:85a3:8d3:1319:8a2e:370:7348:443", "2001:db8:85a3:8d3::/64"],
    ["2001:DB8::1:443", "2001:db8::/64"],
    ["2001:0db8:0000:0001:0000:0000:0000:0001:443", "2001:db8:0:1::/64"],
    ["::ffff:198.51.100.10:443", "198.51.100.10"],
  ])("%s is a viewer of %s", (value, expected) => {
    expect(viewerOf(value)).toBe(expected);
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
  ])("%j is no address", (value) => {
    expect(viewerOf(value)).toBeUndefined();
  });

  test("no address or two addresses are none", () => {
    expect(viewerOf([])).toBeUndefined();
    expect(viewerOf(["203.0.113.1:443", "198.51.100.10:443"])).toBeUndefined();
    expect(viewerAddress({ multiValueHeaders: null })).toBeUndefined();
  });
});

describe("no viewer is believed", () => {
  const viewer = "198.51.100.10:443";

  test.each([
    ["without a secret", {}],
    ["with an empty one", { "x-proxy-secret": [""] }],
    ["with another one", { "x-proxy-secret": [newer] }],
    ["with a part of it", { "x-proxy-secret": [secret.slice(0, -1)] }],
    ["who gives it twice", { "x-proxy-secret": [secret, secret] }],
    ["who gives it twice, in two cases", { "x-proxy-secret": [secret], "X-Proxy-Secret": [secret] }],
    ["who gives it twice in one value", { "x-proxy-secret": [`${secret}, ${secret}`] }],
  ])("%s", (_, headers: Record<string, string[]>) => {
    expect(viewerOf(viewer, headers)).toBeUndefined();
  });

  test.each([undefined, ""])("where no proxy is set up: %j", (hash) => {
    vi.stubEnv("TRUSTED_PROXY_SHA256", hash);
    for (const each of ["", secret]) expect(viewerOf(viewer, { "x-proxy-secret": [each] })).toBeUndefined();
  });

  test("who knows the hash", () => {
    const { TRUSTED_PROXY_SHA256: hash = "" } = process.env;
    expect(viewerOf(viewer, { "x-proxy-secret": [hash] })).toBeUndefined();
  });
});

test("two secrets are known while one replaces the other", () => {
  know(newer, secret);
  for (const each of [newer, secret])
    expect(viewerOf("198.51.100.10:443", { "x-proxy-secret": [each] })).toBe("198.51.100.10");
  know(newer);
  expect(viewerOf("198.51.100.10:443")).toBeUndefined();
});

describe("the authorizer", () => {
  let printed: string[];
  beforeEach(() => {
    printed = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      printed.push(String(text));
      return true;
    });
  });

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

  test("logs the viewer's network at 401, else tells the access log", async () => {
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
