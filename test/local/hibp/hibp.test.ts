import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { type HibpServer, startHibp } from "../../../local/hibp/hibp.ts";

const apiKey = "00000000000000000000000000000000";
const start = async (settings: Partial<Parameters<typeof startHibp>[0]> = {}): Promise<HibpServer> => {
  const server = await startHibp({ directory: undefined, apiKey, ...settings });
  onTestFinished(server.close);
  return server;
};

const get = async (
  server: HibpServer,
  path: string,
  headers: Record<string, string> = { "hibp-api-key": apiKey, "user-agent": "test" },
) => {
  const response = await request(`${server.url}/${path}`, { headers });
  const text = await response.body.text();
  return {
    status: response.statusCode,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
};

const makeDirectory = async (catalog: string, accounts: string): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "hibp-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, "catalog.json"), catalog);
  await writeFile(join(directory, "accounts.json"), accounts);
  return directory;
};

describe("the built-in breaches", () => {
  test("are marked as invented, with every field of HIBP's model", async () => {
    const { body } = await get(await start(), "breaches");
    expect(body.length).toBeGreaterThanOrEqual(8);
    for (const breach of body) {
      expect(breach.Title).toContain("(invented)");
      expect(breach.Description).toMatch(/^Invented for demonstration:/);
      expect(Object.keys(breach)).toEqual(
        expect.arrayContaining(
          (
            "Name Title Domain BreachDate AddedDate ModifiedDate PwnCount Description DataClasses IsVerified " +
            "IsFabricated IsSensitive IsRetired IsSpamList IsMalware IsSubscriptionFree " +
            "IsStealerLog LogoPath Attribution"
          ).split(" "),
        ),
      );
    }
  });

  test("include each breach that an account names", async () => {
    const directory = join(import.meta.dirname, "../../../local/hibp/breaches");
    const names = new Set(
      JSON.parse(await readFile(join(directory, "catalog.json"), "utf8")).map(
        (b: { Name: string }) => b.Name,
      ),
    );
    const accounts = JSON.parse(await readFile(join(directory, "accounts.json"), "utf8"));
    for (const [address, listed] of Object.entries<string[]>(accounts)) {
      expect(address).toMatch(/@demo\.example$/);
      expect(listed.every((name) => names.has(name))).toBe(true);
    }
  });
});

describe("answers like HIBP", () => {
  test("the catalog needs no key, but accounts and domains do", async () => {
    const server = await start();
    const anonymous = { "user-agent": "test" };
    expect((await get(server, "breaches", {})).status).toBe(403);
    expect((await get(server, "breaches", anonymous)).body.length).toBeGreaterThan(1);
    for (const path of [
      "breachedaccount/a@b.example",
      "breacheddomain/demo.example",
      "subscribeddomains",
      "subscription/status",
    ]) {
      expect((await get(server, path, anonymous)).status).toBe(401);
      expect((await get(server, path, { ...anonymous, "hibp-api-key": "wrong" })).status).toBe(401);
    }
  });

  test("the latest breach is the last one added, and needs no key", async () => {
    const server = await start();
    const { body } = await get(server, "breaches");
    const latest = await get(server, "latestbreach", { "user-agent": "test" });
    const dates = body.map(({ AddedDate }: { AddedDate: string }) => AddedDate).sort();
    expect(latest.body.AddedDate).toBe(dates.at(-1));
    const empty = await start({ directory: await makeDirectory("[]", "{}") });
    expect((await get(empty, "latestbreach")).status).toBe(404);
  });

  test("domain searches have sensitive breaches, single look-ups not", async () => {
    const server = await start();
    expect((await get(server, "breachedaccount/hedy@demo.example")).status).toBe(404);
    expect((await get(server, "breacheddomain/demo.example")).body.hedy).toEqual(["ExampleClinic"]);
    expect((await get(server, "breacheddomain/other.example")).status).toBe(403);
  });

  test("stealer logs are told by domain, of verified domains only", async () => {
    const server = await start();
    expect((await get(server, "stealerlogsbyemaildomain/demo.example")).body).toEqual({
      edsger: ["games.example", "shop.example"],
      radia: ["demo.example", "travel.example"],
    });
    expect((await get(server, "stealerlogsbyemaildomain/other.example")).status).toBe(403);
  });

  test.each([
    ["core", "Core 1", { subscribeddomains: 200, breacheddomain: 200, range: 403, stealer: 403 }],
    ["pro", "Pro 1", { subscribeddomains: 200, breacheddomain: 200, range: 404, stealer: 200 }],
    ["high-rpm", "High RPM 12000", { subscribeddomains: 403, breacheddomain: 403, range: 404, stealer: 403 }],
  ] as const)("the plan %s has what HIBP says of it", async (plan, name, expected) => {
    const server = await start({ plan });
    const { body } = await get(server, "subscription/status");
    expect(body.SubscriptionName).toBe(name);
    expect(Object.keys(body)).toHaveLength(11);
    expect(body.IncludesStealerLogs).toBe(plan === "pro");
    expect(body.IncludesKAnon).toBe(plan !== "core");
    const status = async (path: string) => (await get(server, path)).status;
    expect({
      subscribeddomains: await status("subscribeddomains"),
      breacheddomain: await status("breacheddomain/demo.example"),
      range: await status(`breachedaccount/range/a1b2c3`),
      stealer: await status("stealerlogsbyemaildomain/demo.example"),
    }).toEqual(expected);
    expect(await status("breachedaccount/ada@demo.example")).toBe(200);
  });

  test("look-ups beyond the plan's Rpm are 429 with Retry-After", async () => {
    const server = await start({ rpm: 3 });
    expect((await get(server, "subscription/status")).body.Rpm).toBe(3);
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => get(server, "breachedaccount/ada@demo.example")),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
    const refused = replies.find(({ status }) => status === 429);
    expect(Number(refused?.headers["retry-after"])).toBeGreaterThan(50);
  });
});

describe("an own directory", () => {
  test("is read again when it changes; if broken, the last one stays", async () => {
    const directory = await makeDirectory('[{"Name":"A"}]', '{"X@One.example":["A"]}');
    const lines: string[] = [];
    const server = await start({ directory, report: (line) => lines.push(line) });
    expect((await get(server, "breacheddomain/one.example")).body).toEqual({ x: ["A"] });
    expect(
      (await get(server, "subscribeddomains")).body.map((d: { DomainName: string }) => d.DomainName),
    ).toEqual(["demo.example", "one.example"]);

    await writeFile(join(directory, "accounts.json"), '{"x@one.example":["A"');
    for (const _ of [1, 2])
      expect((await get(server, "breacheddomain/one.example")).body).toEqual({ x: ["A"] });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("accounts.json is not valid JSON");

    await writeFile(join(directory, "accounts.json"), "{}");
    expect((await get(server, "breacheddomain/one.example")).status).toBe(404);
  });

  test("that is missing or malformed is refused at the start", async () => {
    await expect(start({ directory: "/nonexistent" })).rejects.toThrow("catalog.json does not exist.");
    const directory = await makeDirectory("{}", "{}");
    await expect(start({ directory })).rejects.toThrow("must be an array of breach objects");
  });
});
