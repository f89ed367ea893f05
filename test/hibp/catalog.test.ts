import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../shared/aws/table/patience.ts";
import * as table from "../../shared/aws/table/table.ts";
import { upstreamBreach } from "../../shared/hibp/breach.ts";
import { details, readNames, type State, stateKey, version } from "../../shared/hibp/breach-details.ts";
import * as catalog from "../../shared/hibp/catalog.ts";
import { UpstreamFailure } from "../../shared/hibp/hibp.ts";
import { useEngine } from "../aws/table/engine.ts";
import { type Command, intercept } from "../aws/table/intercept.ts";
import { settle } from "./settle.ts";
import { reply, startUpstream, type UpstreamServer } from "./upstream-server.ts";

useEngine();
let upstream: UpstreamServer;
let list: Record<string, unknown>[];
let testNumber = 0;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(async () => {
  await upstream.stop();
});
beforeEach(async () => {
  // A fresh catalog, and names of this test alone: a process keeps the ids of names for good.
  testNumber++;
  for (const pk of [keys.breachNames().pk, keys.subscription().pk]) {
    const rows = await table.query<Key>({ pk, project: ["pk", "sk"] });
    for (const some of chunk(rows, table.maxTransactionWrites))
      await table.transact(some.map((row) => ({ delete: row })));
  }
  await table.put({ ...keys.subscription(), rpm: 100_000, at: new Date().toISOString() });
  upstream.requests.length = 0;
  serve();
});

const serve = (): void => {
  upstream.answer = (path, _request, response) =>
    path === "breaches" ? reply(response, 200, list) : reply(response, 404);
};

const named = (name: string): string => `${name}-${testNumber}`;
const breach = (name: string, fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  Name: named(name),
  Title: `Title of ${name}`,
  Domain: "a.example",
  BreachDate: "2020-02-03",
  AddedDate: "2020-03-01T00:00Z",
  ModifiedDate: "2020-03-01T00:00:00Z",
  PwnCount: 12,
  Description: "<b>bad</b>",
  DataClasses: ["Passwords"],
  IsSensitive: false,
  IsRetired: false,
  IsVerified: true,
  ...fields,
});

const idsByName = async () => new Map([...(await readNames())].map(([name, { id }]) => [name, id]));
const idOf = async (name: string): Promise<number> => (await idsByName()).get(named(name)) as number;
const one = async (name: string) => {
  const id = await idOf(name);
  return (await details([id])).get(id);
};
/** What a sync without news returns. */
const nothing = { added: [], changed: [], forRules: [], unknownDataClasses: [], isBaseline: false };

/** The commands that `act` sends to the table, each with its row, or a batch's number of keys. */
const commandsOf = async (act: () => Promise<unknown>): Promise<string[]> => {
  const commands: string[] = [];
  const stop = intercept<Command>("initialize", (next, { commandName }) => (sent) => {
    const { Key, Item, RequestItems } = sent.input as {
      Key?: Record<keyof Key, { S: string }>;
      Item?: Key;
      RequestItems?: Record<string, { Keys: unknown[] }>;
    };
    const keys = Object.values(RequestItems ?? {}).flatMap(({ Keys }) => Keys).length;
    const row = RequestItems ? keys : `${Key?.pk.S ?? Item?.pk} ${Key?.sk.S ?? Item?.sk}`;
    commands.push(`${commandName} ${row}`);
    return next(sent);
  });
  try {
    await act();
  } finally {
    stop();
  }
  return commands;
};

describe("a sync", () => {
  test("keeps what HIBP says, and announces data classes of unknown severity once", async () => {
    list = [
      breach("A", {
        DataClasses: ["Passwords", "Dreams"],
        IsVerified: false,
        IsFabricated: true,
        IsSensitive: true,
        IsRetired: true,
        IsSpamList: true,
        IsMalware: true,
        IsSubscriptionFree: true,
        IsStealerLog: true,
        Attribution: "ada@example.org",
        LogoPath: "https://logos.example/a.png",
      }),
      breach("B", { IsVerified: undefined, AddedDate: "yesterday" }),
      breach("C"),
    ];
    const first = await catalog.sync();
    expect(first).toMatchObject({ isBaseline: true, unknownDataClasses: ["Dreams"] });
    expect(first.added).toHaveLength(3);
    expect(await one("A")).toMatchObject({
      isVerified: false,
      isFabricated: true,
      isSensitive: true,
      isRetired: true,
      isSpamList: true,
      isMalware: true,
      isSubscriptionFree: true,
      isStealerLog: true,
      attribution: "ada@example.org",
      logoPath: "https://logos.example/a.png",
      severity: "critical",
    });
    expect(await one("B")).toMatchObject({ isVerified: true, addedDate: null, severity: "high" });
    expect(await one("C")).toEqual({
      id: await idOf("C"),
      name: named("C"),
      title: "Title of C",
      domain: "a.example",
      breachDate: "2020-02-03",
      dataClasses: ["Passwords"],
      pwnCount: 12,
      description: "<b>bad</b>",
      addedDate: "2020-03-01T00:00:00.000Z",
      modifiedDate: "2020-03-01T00:00:00.000Z",
      isVerified: true,
      isFabricated: false,
      isSensitive: false,
      isRetired: false,
      isSpamList: false,
      isMalware: false,
      isSubscriptionFree: false,
      isStealerLog: false,
      attribution: null,
      logoPath: null,
      severity: "high",
    });
    list.reverse();
    expect(await catalog.sync()).toEqual(nothing);
  });

  test("tells new breaches from changed ones; one that vanishes keeps its details", async () => {
    list = [breach("A"), breach("B"), breach("C"), breach("D")];
    await catalog.sync();
    const before = await idsByName();
    list = [
      breach("A", { Title: "Renamed" }),
      breach("B", { ModifiedDate: "2021-01-01T00:00:00Z" }),
      breach("C", { IsRetired: true }),
      breach("E"),
    ];
    const news = await catalog.sync();
    expect(news).toEqual({
      added: [await idOf("E")],
      changed: [before.get(named("A")), before.get(named("B")), before.get(named("C"))],
      forRules: [],
      unknownDataClasses: [],
      isBaseline: false,
    });
    expect((await one("A"))?.title).toBe("Renamed");
    expect((await one("D"))?.title).toBe("Title of D");
    for (const [name, id] of before) expect((await idsByName()).get(name)).toBe(id);
    list.push(breach("D"));
    expect(await catalog.sync()).toEqual(nothing);
  });

  test("says which breaches rules may judge in another way", async () => {
    list = ["A", "B", "C", "D", "E"].map((name) => breach(name));
    await catalog.sync();
    const before = await idsByName();
    list = [
      breach("A", { DataClasses: ["Passwords", "Names"] }),
      breach("B", { BreachDate: "2021-02-03" }),
      breach("C", { IsVerified: false }),
      breach("D", { PwnCount: 13, Title: "Other", Description: "Other" }),
      breach("E", { IsMalware: true }),
      breach("F"),
    ];
    const { forRules } = await catalog.sync();
    expect(forRules).toEqual(["A", "B", "C", "E"].map((name) => before.get(named(name))));
  });

  test("without news reads one row of the catalog and writes none", async () => {
    list = Array.from({ length: 30 }, (_, n) => breach(`N${n}`));
    await catalog.sync();
    const commands = await commandsOf(() => catalog.sync());
    expect(commands).toEqual([
      "GetItemCommand UPSTREAM SUBSCRIPTION",
      "GetItemCommand UPSTREAM LIMITER",
      "PutItemCommand UPSTREAM LIMITER",
      "GetItemCommand CATALOG-NAMES NAMES",
    ]);
  });

  test("changes nothing when HIBP fails", async () => {
    list = [breach("A")];
    await catalog.sync();
    for (const [status, body] of [
      [200, "[{}]"],
      [401, ""],
      [403, ""],
    ] as const) {
      upstream.answerAll(status, body);
      await expect(catalog.sync(undefined, { waitSeconds: 0 })).rejects.toBeInstanceOf(UpstreamFailure);
    }
    expect((await one("A"))?.title).toBe("Title of A");
    serve();
    expect(await catalog.sync()).toEqual(nothing);
  });

  test("announces news and baselines again until an announcement succeeds", async () => {
    const heard: catalog.News[] = [];
    const syncTwice = async () => {
      const crash = catalog.sync(async (news) => {
        heard.push(news);
        throw new Error("crash");
      });
      await expect(crash).rejects.toThrow("crash");
      for (const _ of [1, 2]) await catalog.sync(async (news) => void heard.push(news));
    };
    list = [breach("A")];
    await syncTwice();
    const first = { ...nothing, added: [await idOf("A")], isBaseline: true };
    expect(heard).toEqual([first, first]);
    list = [breach("A", { Title: "Renamed" }), breach("B")];
    await syncTwice();
    const second = { ...nothing, added: [await idOf("B")], changed: [await idOf("A")] };
    expect(heard.slice(2)).toEqual([second, second]);
  });

  test("repairs what an interrupted sync wrote, even if HIBP reverts its list", async () => {
    const many = Array.from({ length: 60 }, (_, n) => breach(`H${n}`));
    list = many;
    await catalog.sync();
    list = many.map((each) => ({ ...each, Title: "Withdrawn" }));
    let transactions = 0;
    const stop = intercept<Command>("initialize", (next, { commandName }) => async (sent) => {
      if (commandName === "TransactWriteItemsCommand" && ++transactions > 1) throw new Error("crash");
      return next(sent);
    });
    await expect(catalog.sync()).rejects.toThrow("crash");
    stop();
    const titles = async (): Promise<Set<string>> => {
      const rows = await details((await idsByName()).values());
      return new Set([...rows.values()].map(({ title }) => title));
    };
    expect(await titles()).toContain("Withdrawn");
    list = many;
    expect((await catalog.sync()).changed.length).toBeGreaterThan(0);
    expect(await titles()).not.toContain("Withdrawn");
    expect(await catalog.sync()).toEqual(nothing);
  });

  test("takes an empty list as a baseline, and a returning breach as no news", async () => {
    list = [];
    expect(await catalog.sync()).toEqual({ ...nothing, isBaseline: true });
    list = [breach("A")];
    expect(await catalog.sync()).toEqual({ ...nothing, added: [await idOf("A")] });
    list = [];
    expect(await catalog.sync()).toEqual(nothing);
    list = [breach("A")];
    expect(await catalog.sync()).toEqual(nothing);
  });

  test("does not record an older answer over a newer one", async () => {
    list = [breach("A")];
    await catalog.sync();
    list = [breach("A", { Title: "Older" })];
    await catalog.sync(async () => {
      list = [breach("A", { Title: "Newer" })];
      await catalog.sync();
    });
    expect((await one("A"))?.title).toBe("Newer");
    expect(await catalog.sync()).toEqual(nothing);
  });
});

describe("a turn to sync", () => {
  const everySeconds = 900;
  const latest = (name: string) => upstreamBreach.parse(breach(name));
  const ask = (name?: string) =>
    catalog.takeTurn(name === undefined ? undefined : latest(name), everySeconds);
  /** Makes the last turn look as if it had been taken this many seconds earlier. */
  const passTime = async (seconds: number): Promise<void> => {
    const { asked } = (await table.get<State>(stateKey())) ?? {};
    const at = new Date(Date.parse(asked?.at ?? "") - seconds * 1_000).toISOString();
    await table.update(stateKey(), { set: { asked: { ...asked, at } } });
  };

  test("comes at its interval, whether HIBP says the latest breach or not", async () => {
    list = [breach("A")];
    expect(await ask()).toBe(true);
    await catalog.sync();
    for (const name of [undefined, "A"]) {
      expect(await ask(name)).toBe(false);
      await passTime(everySeconds - 5);
      expect(await ask(name)).toBe(false);
      await passTime(5);
      expect(await ask(name)).toBe(true);
    }
  });

  test("comes at once for a breach that is unknown or was met by a scan", async () => {
    list = [breach("A")];
    expect(await ask("A")).toBe(true);
    await catalog.sync();
    list = [breach("A"), breach("B")];
    await catalog.idsFor([named("B")]);
    expect(await ask("B")).toBe(true);
    expect((await catalog.sync()).added).toEqual([await idOf("B")]);
    expect(await ask("B")).toBe(false);
  });

  test("for a breach whose sync failed comes again two minutes later", async () => {
    list = [breach("A")];
    await catalog.sync();
    expect(await ask("B")).toBe(true);
    expect(await ask("B")).toBe(false);
    await passTime(115);
    expect(await ask("B")).toBe(false);
    expect(await ask("C")).toBe(true);
    await passTime(120);
    expect(await ask("C")).toBe(true);
  });

  test("without news reads two rows, eventually consistent, and no more", async () => {
    list = [breach("A")];
    expect(await ask("A")).toBe(true);
    await catalog.sync();
    expect(await commandsOf(() => ask("A"))).toEqual(["BatchGetItemCommand 2"]);
  });

  test("adds the latest breach even if HIBP's list is still without it", async () => {
    list = [breach("A")];
    await catalog.sync();
    const { added } = await catalog.sync(undefined, { latest: latest("B") });
    expect(added).toEqual([await idOf("B")]);
    expect((await one("B"))?.title).toBe("Title of B");
    expect(await ask("B")).toBe(true);
    expect(await ask("B")).toBe(false);
    expect(await catalog.sync()).toEqual(nothing);
    list.push(breach("B"));
    expect(await catalog.sync()).toEqual(nothing);
  });

  test("does not take the latest breach over the list's own entry of it", async () => {
    list = [breach("A")];
    await catalog.sync();
    const other = { ...latest("A"), title: "Another title" };
    expect(await catalog.sync(undefined, { latest: other })).toEqual(nothing);
    expect((await one("A"))?.title).toBe("Title of A");
  });
});

describe("a hostile list", () => {
  test("may have odd names, huge descriptions, missing fields and repeats", async () => {
    const odd = [
      "a.b[0]#x:y",
      "__proto__",
      "NAMES",
      " ",
      "名".repeat(290),
      "x".repeat(290),
      "\u0000\u0007",
      "\ud83d",
      "<script>alert(1)</script>",
    ];
    list = [
      ...odd.map((name) => breach(name)),
      breach("Large", { Description: "名".repeat(20_000), DataClasses: Array(2_100).fill("é".repeat(150)) }),
      { Name: named("Bare") },
      breach("Twice", { Title: "one" }),
      breach("Twice", { Title: "two" }),
      { Title: "nameless" },
      { Name: "y".repeat(301) },
    ];
    const { added } = await catalog.sync();
    expect(added).toHaveLength(odd.length + 3);
    expect(await catalog.sync()).toEqual(nothing);
    const known = await idsByName();
    const wanted = odd.map((name) => named(name).toWellFormed());
    for (const name of wanted) expect(known.get(name)).toBeGreaterThan(0);
    expect(await catalog.idsFor(wanted)).toEqual(new Map(wanted.map((name) => [name, known.get(name)])));
    expect(await one("Bare")).toMatchObject({ title: named("Bare"), breachDate: "1970-01-01", pwnCount: 0 });
    expect((await one("Large"))?.description).toHaveLength(16_384);
  });

  test("fits breaches of the largest size into its transactions", async () => {
    const text = "名".repeat(2_000);
    list = Array.from({ length: 24 }, (_, n) =>
      breach(`L${n}`, {
        Title: text,
        Domain: text,
        Attribution: text,
        LogoPath: text,
        Description: "名".repeat(20_000),
        DataClasses: Array(200).fill("名".repeat(200)),
      }),
    );
    expect((await catalog.sync()).added).toHaveLength(24);
  });
});

describe("idsFor", () => {
  test("returns known ids without asking HIBP", async () => {
    list = [breach("A")];
    await catalog.sync();
    upstream.requests.length = 0;
    expect(await catalog.idsFor([named("A"), named("A")])).toEqual(new Map([[named("A"), await idOf("A")]]));
    expect(await catalog.idsFor([])).toEqual(new Map());
    expect(upstream.requests).toEqual([]);
  });

  test("gives a new name an id and details, and leaves it as news for a sync", async () => {
    list = [breach("A")];
    await catalog.sync();
    list = [breach("A"), breach("B")];
    const id = (await catalog.idsFor([named("B")])).get(named("B")) as number;
    expect((await details([id])).get(id)?.title).toBe("Title of B");
    expect(await catalog.sync()).toEqual({ ...nothing, added: [id] });
  });

  test("gives a name that HIBP does not list, or cannot list now, a permanent id", async () => {
    list = [breach("A")];
    const first = (await catalog.idsFor([named("B")])).get(named("B")) as number;
    expect((await details([first])).get(first)).toMatchObject({
      name: named("B"),
      title: named("B"),
    });
    upstream.answerAll(401);
    const second = (await catalog.idsFor([named("C")])).get(named("C")) as number;
    serve();
    list = [breach("A"), breach("B"), breach("C")];
    expect((await catalog.sync()).added.sort()).toEqual([await idOf("A"), first, second].sort());
    expect((await details([first])).get(first)?.title).toBe("Title of B");
  });

  test("refuses an answer with over a hundred breaches that HIBP does not list", async () => {
    list = [breach("A")];
    await catalog.sync();
    const before = (await idsByName()).size;
    const invented = (count: number) => Array.from({ length: count }, (_, n) => named(`Invented${n}`));
    await expect(catalog.idsFor([named("A"), ...invented(101)])).rejects.toThrow(/malformed/);
    expect((await idsByName()).size).toBe(before);
    expect((await catalog.idsFor(invented(100))).size).toBe(100);
    expect((await idsByName()).size).toBe(before + 100);
  });

  test("agrees with concurrent calls and concurrent syncs on the ids", async () => {
    const names = Array.from({ length: 60 }, (_, n) => named(`N${n}`));
    list = names.slice(0, 40).map((_, n) => breach(`N${n}`));
    const [a, b] = await withTimeOf(120_000, () =>
      Promise.all([
        catalog.idsFor(names),
        catalog.idsFor(names.toReversed()),
        catalog.sync(),
        catalog.sync(),
      ]),
    );
    expect(await catalog.sync()).toEqual(nothing);
    const known = await idsByName();
    expect(new Set(known.values()).size).toBe(60);
    const rows = await details(known.values());
    for (const [name, id] of known) expect(rows.get(id)?.name).toBe(name);
    expect(new Map([...a].sort())).toEqual(new Map([...b].sort()));
    expect(new Map([...a].sort())).toEqual(new Map([...known].sort()));
  });
});

describe("details", () => {
  test("leave out unknown ids", async () => {
    expect(await details([2 ** 40])).toEqual(new Map());
    expect(await details([])).toEqual(new Map());
  });

  test("that an instance has read are not read again at the same version", async () => {
    list = [breach("A"), breach("B"), breach("C")];
    await catalog.sync();
    await settle(61);
    const [a, b, c] = [await idOf("A"), await idOf("B"), await idOf("C")];
    const first = await version();
    const read = await details([a, b], first);
    expect([...read.values()].map(({ title }) => title)).toEqual(["Title of A", "Title of B"]);
    expect(await commandsOf(async () => expect(await details([b, a], first)).toEqual(read))).toEqual([]);
    expect(await commandsOf(() => details([a, b, c, 2 ** 40], first))).toEqual([
      "BatchGetItemCommand 2",
      "BatchGetItemCommand 1",
    ]);

    list[0] = breach("A", { Title: "Renamed" });
    await catalog.sync();
    // Even unchanged details are not cached now, because replicas may still return the old ones.
    expect(await version()).toBeUndefined();
    expect((await details([a])).get(a)?.title).toBe("Renamed");
    expect(await commandsOf(() => details([a, b]))).toEqual(["BatchGetItemCommand 2"]);
    await settle(61);
    const second = await version();
    expect(second).not.toBe(first);
    expect((await details([a], second)).get(a)?.title).toBe("Renamed");
  });

  test("read before a sync are not cached for the version after it", async () => {
    list = [breach("A")];
    await catalog.sync();
    await settle(61);
    const a = await idOf("A");
    const first = await version();
    const wasRead = Promise.withResolvers<void>();
    const isOver = Promise.withResolvers<void>();
    const stop = intercept<Command>("initialize", (next) => async (sent) => {
      const reply = await next(sent);
      wasRead.resolve();
      await isOver.promise;
      return reply;
    });
    const late = details([a], first);
    await wasRead.promise;
    stop();
    list[0] = breach("A", { Title: "Renamed" });
    await catalog.sync();
    await settle(61);
    const second = await version();
    expect((await details([a], second)).get(a)?.title).toBe("Renamed");
    isOver.resolve();
    expect((await late).get(a)?.title).toBe("Title of A");
    expect((await details([a], second)).get(a)?.title).toBe("Renamed");
  });

  test("have no version before, during and for a minute after a sync", async () => {
    expect(await version()).toBeUndefined();
    list = [breach("A")];
    await catalog.sync();
    expect(await version()).toBeUndefined();
    await settle(59);
    expect(await version()).toBeUndefined();
    await settle(61);
    expect(await version()).toBeDefined();
    list = [breach("A", { Title: "Renamed" })];
    const crash = catalog.sync(async () => {
      expect(await version()).toBeUndefined();
      throw new Error("crash");
    });
    await expect(crash).rejects.toThrow("crash");
    expect(await version()).toBeUndefined();
    await catalog.sync();
    await settle(61);
    expect(await version()).toBeDefined();
  });

  test("of 1,600 breaches do not fill the memory of an instance", async () => {
    list = [breach("A")];
    await catalog.sync();
    await settle(61);
    const first = await version();
    const ids = Array.from({ length: 1_600 }, (_, n) => 2 ** 40 + n);
    const rows = ids.map((id) => ({ put: { ...keys.breach(id), id, title: `Title of ${id}` } }));
    for (const some of chunk(rows, table.maxTransactionWrites)) await table.transact(some);
    expect((await details(ids, first)).size).toBe(1_600);
    expect(await commandsOf(() => details(ids, first))).not.toEqual([]);
    expect((await details(ids, first)).size).toBe(1_600);
  });
});
