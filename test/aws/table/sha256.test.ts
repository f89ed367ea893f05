import { createHash, createHmac } from "node:crypto";
import { DynamoDBClient, type DynamoDBClientConfig, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Sha256 } from "../../../shared/aws/table/sha256.ts";

type Sha256Data = NonNullable<ConstructorParameters<typeof Sha256>[0]>;

type Next = (given: object) => Promise<object>;

const text = "Grüße an die Tabelle";
const bytes = new TextEncoder().encode(`..${text}..`).subarray(2, -2);
const copy = bytes.slice();
const data: [string, Sha256Data][] = [
  ["text", text],
  ["a part of a buffer", bytes],
  ["a buffer", copy.buffer],
  ["a view of another kind", new DataView(copy.buffer)],
];

const digestOf = async (hash: Sha256): Promise<string> => Buffer.from(await hash.digest()).toString("hex");

test.each(data)("the hash of %s equals that of Node.js", async (_, given) => {
  const hash = new Sha256();
  hash.update(given);
  expect(await digestOf(hash)).toBe(createHash("sha256").update(text).digest("hex"));
});

test("hashes are those of FIPS 180-4, of no data and of data in parts", async () => {
  expect(await digestOf(new Sha256())).toBe(
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
  const parts = new Sha256();
  for (const part of ["a", "b", "c"]) parts.update(part);
  expect(await digestOf(parts)).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

describe("an HMAC equals that of Node.js", () => {
  test.each(data)("with %s as the secret, also when used again and after a reset", async (_, secret) => {
    const expected = createHmac("sha256", text).update("a message").digest("hex");
    for (let time = 0; time < 2; time++) {
      const hash = new Sha256(secret);
      hash.update("another message");
      hash.reset();
      hash.update("a message");
      expect(await digestOf(hash)).toBe(expected);
    }
  });

  test("with the empty secret", async () => {
    const hash = new Sha256("");
    hash.update(text);
    expect(await digestOf(hash)).toBe(createHmac("sha256", "").update(text).digest("hex"));
  });
});

describe("requests are signed as the SDK signs them", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** The `Authorization` headers of requests for these rows. */
  const signatures = async (
    config: DynamoDBClientConfig,
    rows = ["1", "2", "Größe"],
    sessionToken = "a token",
  ): Promise<string[]> => {
    const sent: string[] = [];
    const client = new DynamoDBClient({
      ...config,
      region: "eu-central-1",
      credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "a secret", sessionToken },
    });
    const headersOf = (given: object): Record<string, string> =>
      (given as { request: { headers: Record<string, string> } }).request.headers;
    // The one header that differs from request to request.
    const makeSame = (next: Next) => (given: object) => {
      headersOf(given)["amz-sdk-invocation-id"] = "the same";
      return next(given);
    };
    const keep = () => async (given: object) => {
      sent.push(headersOf(given).authorization ?? "");
      return { response: {}, output: { $metadata: {} } };
    };
    const { middlewareStack } = client;
    middlewareStack.addRelativeTo(makeSame as never, {
      relation: "before",
      toMiddleware: "httpSigningMiddleware",
    });
    middlewareStack.add(keep as never, { step: "finalizeRequest", priority: "low" });
    for (const sk of rows) {
      await client.send(new GetItemCommand({ TableName: "t", Key: { pk: { S: "ORG#1" }, sk: { S: sk } } }));
    }
    client.destroy();
    return sent;
  };

  /** The SDK keeps the 50 signing keys that it derived last, of all clients together. */
  const forgetKeys = async (): Promise<void> => {
    for (let index = 0; index < 51; index++) await signatures({}, ["1"], `another token ${index}`);
  };

  test("on two days, whether this class or the SDK's derived the signing key", async () => {
    for (const now of ["2026-11-22T23:59:59.000Z", "2026-11-23T00:00:01.000Z"]) {
      vi.useFakeTimers({ now: new Date(now), toFake: ["Date"] });
      const own = await signatures({ sha256: Sha256 });
      const withItsKey = await signatures({});
      await forgetKeys();
      const sdks = await signatures({});
      const withThatKey = await signatures({ sha256: Sha256 });
      expect([own, withItsKey, withThatKey]).toEqual([sdks, sdks, sdks]);
      expect(sdks[0]).toContain(
        `Credential=AKIDEXAMPLE/${now.slice(0, 10).replaceAll("-", "")}/eu-central-1/`,
      );
      expect(new Set(sdks).size).toBe(3);
      await forgetKeys();
    }
  });
});
