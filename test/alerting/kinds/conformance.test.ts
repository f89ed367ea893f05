/**
 * What holds for every kind of channel. Each sends to a real receiver: an HTTP server, or one in the place of SES.
 * A kind without a fixture does not compile.
 */
import type { RequestListener } from "node:http";
import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Receiver, startReceiver } from "../../../local/harness/receiver.ts";
import { entries } from "../../../shared/access/activity/activity.ts";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { sendTest } from "../../../shared/alerting/attempts/by-hand.ts";
import * as deliveryList from "../../../shared/alerting/attempts/delivery-list.ts";
import * as channels from "../../../shared/alerting/channels/channel.ts";
import { type Delivery, deliveries } from "../../../shared/alerting/deliveries/delivery.ts";
import { addresseesOf } from "../../../shared/alerting/kinds/email/recipient.ts";
import type { AnyForm, ChannelForm } from "../../../shared/alerting/kinds/kind.ts";
import { textOf } from "../../../shared/alerting/kinds/senders.ts";
import type { Content } from "../../../shared/alerting/messages/content.ts";
import { toldOf } from "../../../shared/alerting/messages/told.ts";
import { channelOf, ownersChannel } from "../../../shared/alerting/owners/owner.ts";
import { tellOwnersByHand } from "../../../shared/alerting/owners/tell.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { createOrganization, logger, takeMessages } from "../../scanning/in-process-workers.ts";
import { domain, findingsOf, inBreaches, rowsOf, useBreachedPeople } from "../breached-people.ts";
import { createChannel } from "../channels.ts";
import { attemptOf, mails, settings, useMailServer } from "../mail-deliveries.ts";
import { breachReport, dashboardUrl, eventReport } from "../notice.ts";
import { slackFaults } from "../slack-rules.ts";

const { scan, organizationOf } = useBreachedPeople();
useMailServer();

let receiver: Receiver;
let answer: RequestListener;
beforeAll(async () => {
  receiver = await startReceiver({ respond: (request, response) => answer(request, response) });
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", receiver.origin);
});
afterAll(() => receiver.close());
beforeEach(() => {
  receiver.requests.length = 0;
  receive("takes");
});

const throttling = "ThrottlingException";

/** How the receiver of any kind answers. HTTP statuses, and by what error SES says the same. */
const behaviours = {
  takes: (_, response) => response.end(JSON.stringify({ MessageId: "1" })),
  fails: (_, response) => response.writeHead(500).end("{}"),
  hangs: () => undefined,
  throttles: (_, response) => response.writeHead(429, { "x-amzn-errortype": throttling }).end("{}"),
  gone: (_, response) => response.writeHead(410, { "x-amzn-errortype": "MessageRejected" }).end("{}"),
  redirects: (_, response) => response.writeHead(307, { location: `${receiver.origin}/inside` }).end(),
  /** As error pages do. */
  echoes: (request, response) => {
    const received = [
      ...receiver.requests.map(({ body }) => `${body}`),
      ...mails.requests.map(({ body }) => body),
    ];
    response.writeHead(500).end(JSON.stringify([request.url, request.rawHeaders, received]));
  },
} satisfies Record<string, RequestListener>;

const receive = (how: keyof typeof behaviours): void => {
  answer = behaviours[how];
  mails.answer = behaviours[how];
};

/** A delivery to a channel of its own. `secrets`: what nobody may read anywhere; `addresses`: nor in logs. */
type Case = { org: number; channelId: number; id: number; secrets: string[]; addresses: string[] };

/** What differs between kinds, and what their contracts say. */
type Fixture = {
  prepare: () => Promise<Case>;
  /** What of each message that arrived says which delivery it is. */
  arrived: () => unknown[];
  countsThrottled?: true;
  endsWhenGone?: true;
  /** A message about these breaches. */
  contentOf: (breaches: Parameters<typeof breachReport>[0]) => Content;
  /** How many breaches a message lists, how many it says that it leaves out, and what its receiver would refuse. */
  read: (text: string) => { listed: number; leftOut: number; faults: string[] };
};

const toChannel = async (form: ChannelForm, secrets: string[], addresses: string[] = []): Promise<Case> => {
  const org = await createOrganization({});
  const channelId = await createChannel(org, {}, form, { notifyOnScanError: true });
  const id = await sendTest(org, (await channels.get(org, channelId)) as channels.Channel);
  return { org, channelId, id, secrets, addresses };
};

const linksOf = async (org: number, addresses: string[]): Promise<string[]> =>
  (await addresseesOf(org, addresses)).map(({ token }) => token.split(".")[2] ?? "");

const bodies = (): string[] => receiver.requests.map(({ body }) => `${body}`);
const deliveryIds = (): unknown[] =>
  mails.requests.map(
    ({ body }) => body.Content?.Simple?.Headers?.find(({ Name }) => Name === "X-Delivery-Id")?.Value,
  );
const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
const readMail = (text: string) => ({
  listed: countOf(text, /^\* /gm),
  leftOut: 0,
  faults: text.length > 1_000_000 || !/^Subject: .{1,200}\n\n/u.test(text) ? ["too long"] : [],
});

const path = "/services/T0S3CRET/B0S3CRET";
const secret = "signing secret of a webhook";

const fixtures: Record<AnyForm["channel"], Fixture> = {
  webhook: {
    prepare: () =>
      toChannel({ channel: "webhook", config: { url: `${receiver.origin}${path}`, secret } }, [path, secret]),
    arrived: () => bodies().map((body) => JSON.parse(body).id),
    countsThrottled: true,
    contentOf: eventReport,
    read: (text) => ({ listed: JSON.parse(text).data.breaches.length, leftOut: 0, faults: [] }),
  },
  slack: {
    prepare: () =>
      toChannel({ channel: "slack", config: { webhookUrl: `${receiver.origin}${path}` } }, [path]),
    // Slack's messages have no id: people recognize one by its text.
    arrived: bodies,
    endsWhenGone: true,
    contentOf: breachReport,
    read: (text) => ({
      listed: countOf(text, /"text":"\*x/g),
      leftOut: Number(/… and (\d+) more\./.exec(text)?.[1]),
      faults: slackFaults(JSON.parse(text)),
    }),
  },
  email: {
    prepare: async () => {
      const recipients = ["ada@other.example", "bob@other.example"];
      const given = await toChannel({ channel: "email", config: { recipients } }, [], recipients);
      return { ...given, secrets: await linksOf(given.org, recipients) };
    },
    arrived: deliveryIds,
    contentOf: breachReport,
    read: readMail,
  },
  owner: {
    prepare: async () => {
      const org = await organizationOf(1);
      await scan(org, inBreaches(1, "Adobe"));
      await tellOwnersByHand(org, [(await findingsOf(org))[0]?.id ?? 0], administrator);
      const [message] = (await takeMessages("deliveries")).filter(
        ({ organizationId }) => organizationId === org,
      );
      const addresses = [`user0@${domain}`];
      const secrets = await linksOf(org, addresses);
      return { org, channelId: ownersChannel.id, id: message?.deliveryId ?? 0, secrets, addresses };
    },
    arrived: deliveryIds,
    contentOf: (breaches) => ({ ...breachReport(breaches), kind: "owner", address: "ada@acme.example" }),
    read: readMail,
  },
};

const names = Object.keys(fixtures) as AnyForm["channel"][];

const rowOf = async ({ org, id }: Case): Promise<Delivery> => (await deliveries.get(org, id)) as Delivery;

/** Makes the next attempt, to which the receiver answers so, and gives the row. */
const attempt = async (given: Case, how: keyof typeof behaviours): Promise<Delivery> => {
  receive(how);
  await attemptOf(given.org, await rowOf(given));
  return rowOf(given);
};

describe.each(names)("a delivery by %s", (channel) => {
  const { prepare, arrived, countsThrottled, endsWhenGone, contentOf, read } = fixtures[channel];

  test("arrives once, however often its message comes", async () => {
    const given = await prepare();
    const before = await rowOf(given);
    expect(await attempt(given, "takes")).toMatchObject({ status: "delivered", attempts: 1 });
    const copies = arrived().length;
    expect(copies).toBeGreaterThan(0);
    await attemptOf(given.org, before);
    await attemptOf(given.org, await rowOf(given));
    expect(arrived()).toHaveLength(copies);
  });

  test("is tried again after an error, with the same id", async () => {
    const given = await prepare();
    const failed = await attempt(given, "fails");
    expect(failed).toMatchObject({ status: "retrying", attempts: 1, failedAttempts: 1 });
    expect(failed.failureReason).toMatch(/^HTTP 500$|^e-mail service failed$/);
    const first = arrived();
    expect(await attempt(given, "takes")).toMatchObject({ status: "delivered", attempts: 2 });
    const second = arrived().slice(first.length);
    expect(second).toEqual(first);
    if (channel !== "slack") expect([...new Set(second)].map(Number)).toEqual([given.id]);
  });

  test("is tried again without an answer in ten seconds", async () => {
    const given = await prepare();
    const { setTimeout: wait } = globalThis;
    const { timeout } = AbortSignal;
    const shorter = (milliseconds = 0) => (milliseconds > 5_000 ? milliseconds / 50 : milliseconds);
    const asked: number[] = [];
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, time?: number) => {
      asked.push(time ?? 0);
      return wait(run, shorter(time));
    }) as typeof setTimeout);
    vi.spyOn(AbortSignal, "timeout").mockImplementation((time) => {
      asked.push(time);
      return timeout(Math.round(shorter(time)));
    });
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await attempt(given, "hangs")).toMatchObject({
      status: "retrying",
      attempts: 1,
      failureReason: "timeout",
    });
    expect(Math.max(...asked.filter((time) => time <= 10_000))).toBeGreaterThan(9_000);
  });

  test("that is throttled waits, and counts if its contract says so", async () => {
    const given = await prepare();
    const attempts = countsThrottled ? 1 : 0;
    expect(await attempt(given, "throttles")).toMatchObject({ status: "retrying", attempts });
    expect(await attempt(given, "takes")).toMatchObject({ status: "delivered", attempts: attempts + 1 });
  });

  test("ends when the receiver is gone, or after its last attempt", async () => {
    const given = await prepare();
    const first = await attempt(given, "gone");
    expect(first.status).toBe(endsWhenGone ? "not delivered" : "retrying");
    if (!endsWhenGone) {
      await table.update(deliveries.key(given.org, given.id), { set: { attempts: 29, failedAttempts: 29 } });
      expect(await attempt(given, "gone")).toMatchObject({ status: "not delivered", attempts: 30 });
    }
    const over = await rowOf(given);
    expect(over.dueAt).toBeUndefined();
    await attemptOf(given.org, over);
    expect(await rowOf(given)).toEqual(over);
  });

  test("follows no redirect", async () => {
    const given = await prepare();
    expect(await attempt(given, "redirects")).toMatchObject({ status: "retrying", attempts: 1 });
    expect(receiver.requests.map((request) => request.path)).not.toContain("/inside");
    expect(arrived().length).toBeGreaterThan(0);
  });

  test("leaves no secret in logs, rows and replies", async () => {
    const given = await prepare();
    const { org, channelId, id, secrets, addresses } = given;
    expect(secrets.every(({ length }) => length > 10) && secrets.length > 0).toBe(true);
    const logs = (["info", "warn", "error"] as const).map((level) => vi.spyOn(logger, level));
    onTestFinished(() => void vi.restoreAllMocks());
    const sent = arrived().length;
    const everything = { depth: Infinity };
    for (const how of ["echoes", "redirects", "takes"] as const) {
      const row = await attempt(given, how);
      const stored = inspect([await channelOf(org, channelId), row, await rowsOf(org, entries)], everything);
      const shown = JSON.stringify([
        await deliveryList.list(org, channelId, { limit: 10, offset: 0 }),
        await deliveryList.get(org, channelId, id, settings.dashboardUrl),
        await deliveryList.inDetail(org),
      ]);
      const logged = inspect(
        logs.map(({ mock }) => mock.calls),
        everything,
      );
      expect(logged).toContain(how === "takes" ? "delivered" : "retrying");
      for (const each of secrets) expect(logged + stored + shown).not.toContain(each);
      for (const each of addresses) expect(logged + inspect(row, everything)).not.toContain(each);
    }
    expect(arrived().length).toBeGreaterThan(sent);
  });

  test("that is too large says what it leaves out", () => {
    const breaches = Array.from({ length: 75 }, () => ({ title: "x".repeat(1_000), domain: "" }));
    const told = toldOf(contentOf(breaches), { organizationName: "o".repeat(1_000), dashboardUrl });
    const { listed, leftOut, faults } = read(textOf({ channel })(told, { deliveryId: 41, at: new Date() }));
    expect({ all: listed + leftOut, faults }).toEqual({ all: 75, faults: [] });
  });
});
