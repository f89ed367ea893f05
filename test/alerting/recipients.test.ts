/** What recipients of alerts by e-mail say about them, and who is asked first. */
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { handler } from "../../functions/change-alert-config/handler.ts";
import { toContext } from "../../shared/access/api/principal.ts";
import * as users from "../../shared/access/members/user.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { deliver, readSubjects, type Subject } from "../../shared/alerting/attempts/deliver.ts";
import { get as inFull } from "../../shared/alerting/attempts/delivery-list.ts";
import { ask } from "../../shared/alerting/channels/ask-recipients.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { addresseesOf, find, setConsent } from "../../shared/alerting/kinds/email/recipient.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import type { Message } from "../../shared/contract/messages.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import {
  createOrganization,
  logger,
  runOutbox,
  takeMessages,
  useWorkers,
} from "../scanning/in-process-workers.ts";
import { deliveriesOf } from "./breached-people.ts";
import { createChannel, webhook } from "./channels.ts";
import {
  age,
  attempt,
  dayAgo,
  mails,
  raiseAgain,
  raiseFor,
  settings,
  statusesOf,
  useMailServer,
} from "./mail-deliveries.ts";

useWorkers();
useMailServer();
const tokenOf = async (org: number, email: string): Promise<string> =>
  (await addresseesOf(org, [email]))[0]?.token ?? "";

const attemptAll = async (messages: readonly Message<"deliveries">[]): Promise<void> => {
  for (const message of messages) await attempt(message);
};

describe("an unsubscribed recipient", () => {
  test("gets no mail of any channel, in any case of letters", async () => {
    const org = await createOrganization({});
    await setConsent(await tokenOf(org, "a@other.example"), "refused");
    const channels = [
      ["A@other.example", "b@other.example"],
      ["a@other.example", "c@other.example"],
    ];
    const messages = await raiseFor(org, channels);
    await attemptAll(messages);
    expect(mails.received.sort()).toEqual(["b@other.example", "c@other.example"]);
    expect(await statusesOf(org, messages)).toEqual(["delivered after 1", "delivered after 1"]);
  });

  test("still gets the alerts of another organization", async () => {
    const [org, other] = [await createOrganization({}), await createOrganization({})];
    await setConsent(await tokenOf(org, "a@other.example"), "refused");
    await attemptAll(await raiseFor(other, [["a@other.example"]]));
    expect(mails.received).toEqual(["a@other.example"]);
  });

  test("leaves the delivery to nobody waiting, and it says so", async () => {
    const org = await createOrganization({});
    const token = await tokenOf(org, "a@other.example");
    await setConsent(token, "refused");
    const [message] = await raiseFor(org, [["a@other.example"]]);
    await attempt(message);
    const row = () => deliveries.get(org, message.deliveryId);
    const waits = { reason: "all recipients have unsubscribed", until: expect.any(String) };
    expect(await row()).toMatchObject({ status: "pending", attempts: 0, waits });
    await setConsent(token, "given");
    await attempt(message);
    expect(mails.received).toEqual(["a@other.example"]);
    // Nothing has failed.
    expect(await row()).toMatchObject({ status: "delivered", failureReason: null });
  });

  test("as a channel's only one is reported once, a day later", async () => {
    const org = await createOrganization({});
    const token = await tokenOf(org, "a@other.example");
    await setConsent(token, "refused");
    const recipients = [["a@other.example"], ["b@other.example"]];
    const messages = [...(await raiseFor(org, recipients)), ...(await raiseAgain(org))];
    const channelId = (await channels.list(org)).at(-1)?.id ?? 0;
    const ofNobody = messages.filter((message) => message.channelId === channelId);
    for (const { deliveryId } of ofNobody) await age(org, deliveryId);
    await attemptAll(ofNobody);
    expect(await statusesOf(org, ofNobody)).toEqual(Array(2).fill("not delivered after 0"));
    await runOutbox();
    await attemptAll(
      (await takeMessages("deliveries")).filter(({ organizationId }) => organizationId === org),
    );
    expect(mails.received).toEqual(["b@other.example"]);
    expect(mails.texts[0]).toMatch(
      new RegExp(
        `^Alerts do not reach the e-mail alert channel ${channelId}\n=+\n\nAll recipients have unsubscribed. `,
      ),
    );
    await setConsent(token, "given");
    await attemptAll((await raiseAgain(org)).filter((message) => message.channelId === channelId));
    expect((await channels.get(org, channelId))?.failingSince).toBeUndefined();
  });
});

test("a link of another organization or with another secret is of nobody", async () => {
  const org = await createOrganization({});
  const token = await tokenOf(org, "a@other.example");
  const foreign = token.replace(/^\d+/, String(await createOrganization({})));
  const guessed = token.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  for (const wrong of [foreign, guessed, "", "1", `${token}=`, token.toUpperCase()]) {
    expect(await find(wrong)).toBeUndefined();
    await expect(setConsent(wrong, "refused")).rejects.toMatchObject({ refusal: "recipientLinkInvalid" });
  }
  expect((await find(token))?.recipient.consent).toBeUndefined();
});

test("an attempt that reached some recipients is repeated for the others alone", async () => {
  const org = await createOrganization({});
  const otherId = await createChannel(org, {}, webhook, { notifyOnScanError: true });
  await setConsent(await tokenOf(org, "d@other.example"), "refused");
  mails.refused = (address) => address.startsWith("B@");
  const recipients = ["a", "B", "c", "d"].map((name) => `${name}@other.example`);
  const message = (await raiseFor(org, [recipients])).find(({ channelId }) => channelId !== otherId);
  if (message === undefined) throw new Error("a delivery was expected");
  const { channelId, deliveryId } = message;
  const unreached = async () => (await inFull(org, channelId, deliveryId, "")).unreached;
  expect(await unreached()).toEqual([]);
  await age(org, deliveryId);
  await table.update(keys.channel(org, channelId), { set: { failingSince: dayAgo() } });
  await attempt(message);
  expect(mails.received.sort()).toEqual(["a@other.example", "c@other.example"]);
  expect(await statusesOf(org, [message])).toEqual(["retrying after 1"]);
  expect(await unreached()).toEqual(["B@other.example"]);
  await runOutbox();
  const sentence = `do not reach all recipients of the e-mail alert channel ${channelId}: message rejected`;
  expect(JSON.stringify(await deliveriesOf(org, otherId))).toContain(sentence);
  await takeMessages("delivery-retries");
  mails.refused = () => false;
  await attempt({ ...message, attempt: 2 });
  expect(await unreached()).toEqual([]);
  expect(mails.received.sort()).toEqual(["B@other.example", "a@other.example", "c@other.example"]);
  expect(await statusesOf(org, [message])).toEqual(["delivered after 2"]);
});

test("a worker that read a delivery before an attempt was taken back sends nothing", async () => {
  const org = await createOrganization({});
  mails.throttled = (address) => address.startsWith("b@");
  const [message] = await raiseFor(org, [["a@other.example", "b@other.example"]]);
  const [before] = await readSubjects([message]);
  await attempt(message);
  mails.throttled = () => false;
  await deliver(message, before as Subject, { logger }, settings);
  expect(mails.received).toEqual(["a@other.example"]);
  await attempt(message);
  expect(mails.received).toEqual(["a@other.example", "b@other.example"]);
});

describe("confirmation", () => {
  beforeEach(() => {
    vi.stubEnv("CONFIRM_RECIPIENTS", "true");
    vi.stubEnv("DASHBOARD_URL", settings.dashboardUrl);
  });
  const question = /^Do you want alerts from /;
  const channelTo = (org: number, ...recipients: string[]): Promise<number> =>
    createChannel(org, {}, { channel: "email", config: { recipients } });

  test("strangers get a request and nothing else until they confirm", async () => {
    const org = await createOrganization({});
    const [message] = await raiseFor(org, [["stranger@other.example"]]);
    await attempt(message);
    await attempt(message);
    await attemptAll(await raiseAgain(org));
    expect(mails.subjects).toEqual([expect.stringMatching(question)]);
    const row = await deliveries.get(org, message.deliveryId);
    expect(row).toMatchObject({ status: "pending", waits: { reason: "no recipient has confirmed yet" } });
    const [, token = ""] = /\/recipient#(\S+)/.exec(mails.texts[0] ?? "") ?? [];
    await setConsent(token, "given");
    await attempt(message);
    expect(mails.subjects).toHaveLength(2);
    expect(mails.subjects[1]).not.toMatch(question);
  });

  test("a patch to e-mail asks new recipients; other kinds ask nobody", async () => {
    const org = await createOrganization({});
    const id = await createChannel(org, {}, webhook);
    const patch = async (body: object): Promise<void> => {
      const authorizer = toContext({ organizationId: org, actor: { type: "api_key", id: 1, label: "Key" } });
      const event = {
        pathParameters: { id: String(id) },
        body: JSON.stringify(body),
        requestContext: { authorizer },
      };
      const reply = await handler(event as unknown as APIGatewayProxyEvent, {} as Context);
      expect(reply).toMatchObject({ statusCode: 200 });
    };
    const config = { recipients: ["stranger@other.example"] };
    await patch({ config });
    expect(mails.received).toEqual([]);
    await patch({ channel: "email", config });
    expect(mails.received).toEqual(config.recipients);
  });

  test("members and addresses on verified domains are not asked first", async () => {
    const org = await createOrganization({ "verified.example": 0 });
    await users.create(org, { email: "member@other.example", name: null });
    const recipients = ["Member@other.example", "any@verified.example", "stranger@other.example"];
    await attemptAll(await raiseFor(org, [recipients]));
    const asked = mails.received.filter((_, index) => question.test(mails.subjects[index] ?? ""));
    const alerted = mails.received.filter((_, index) => !question.test(mails.subjects[index] ?? ""));
    expect(asked).toEqual(["stranger@other.example"]);
    expect(alerted.sort()).toEqual(["Member@other.example", "any@verified.example"]);
  });

  test("whom SES was too busy to ask is asked at the next alert", async () => {
    const org = await createOrganization({});
    await organizations.set(org, { mailBudget: { hour: 1, day: 1 } });
    const channelId = await channelTo(org, "a@other.example");
    mails.throttled = () => true;
    await ask(org, channelId, logger);
    mails.throttled = () => false;
    await ask(org, channelId, logger);
    await ask(org, channelId, logger);
    expect(mails.received).toEqual(["a@other.example"]);
  });

  test("whoever was not asked because a worker died is asked later", async () => {
    const org = await createOrganization({});
    const channelId = await channelTo(org, "a@other.example");
    const death = onTableRequest("a recipient who is asked", "after", async () => {
      throw new Error("killed");
    });
    await ask(org, channelId, logger);
    expect([death.happened, mails.received]).toEqual([true, []]);
    vi.setSystemTime(Date.now() + 60_000);
    onTestFinished(() => void vi.useRealTimers());
    await ask(org, channelId, logger);
    await ask(org, channelId, logger);
    expect(mails.received).toEqual(["a@other.example"]);
  });

  test("counts against the budget, and is asked for once at a time", async () => {
    const org = await createOrganization({});
    const channelId = await channelTo(org, "a@other.example");
    await Promise.all(Array.from({ length: 5 }, () => ask(org, channelId, logger)));
    expect(mails.received).toEqual(["a@other.example"]);
    const poor = await createOrganization({});
    await organizations.set(poor, { mailBudget: { hour: 0, day: 0 } });
    await ask(poor, await channelTo(poor, "b@other.example"), logger);
    expect(mails.received).toEqual(["a@other.example"]);
  });
});
