/** E-mail channels, their deliveries, and a mail server that notes whom SES is asked to send to. */
import { createServer, type RequestListener } from "node:http";
import type { SendEmailCommandInput } from "@aws-sdk/client-sesv2";
import { afterAll, beforeAll, beforeEach, vi } from "vitest";
import { listenOn } from "../../local/loopback.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { type Delivery, deliveries, raise } from "../../shared/alerting/deliveries/delivery.ts";
import * as table from "../../shared/aws/table/table.ts";
import type { Message } from "../../shared/contract/messages.ts";
import { takeMessages } from "../scanning/in-process-workers.ts";
import { createChannel } from "./channels.ts";
import { deliverOne } from "./deliver-one.ts";

export const settings = {
  redispatchSeconds: 3_600,
  waitingSeconds: 300,
  longestWaitSeconds: 86_400,
  dashboardUrl: "https://monitor.example/api/app",
};

export const dayAgo = (): string => new Date(Date.now() - settings.longestWaitSeconds * 1000).toISOString();

/** Makes a delivery as old as one that no longer waits. */
export const age = (org: number, id: number) =>
  table.update(deliveries.key(org, id), { set: { createdAt: dayAgo() } });

export const mails = {
  requests: [] as { url: string | undefined; body: SendEmailCommandInput }[],
  /** Whom messages went to, in their order. */
  received: [] as string[],
  subjects: [] as string[],
  texts: [] as string[],
  deliveryIds: [] as string[],
  references: [] as string[],
  /** Whose messages SES refuses. */
  refused: (_address: string): boolean => false,
  /** Whose messages are beyond SES's rate. */
  throttled: (_address: string): boolean => false,
  /** What SES answers instead. */
  answer: undefined as RequestListener | undefined,
  /** Open connections to SES. */
  connections: new Set<unknown>(),
};

/** Runs the mail server for the tests of a file. */
export const useMailServer = (): void => {
  let close: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const part of request) body += part;
      response.setHeader("content-type", "application/json");
      const { Destination, Content } = JSON.parse(body);
      mails.requests.push({ url: request.url, body: JSON.parse(body) });
      if (mails.answer !== undefined) return mails.answer(request, response);
      const [address] = Destination.ToAddresses;
      if (mails.refused(address))
        return response.writeHead(400, { "x-amzn-errortype": "MessageRejected" }).end("{}");
      if (mails.throttled(address))
        return response.writeHead(400, { "x-amzn-errortype": "ThrottlingException" }).end("{}");
      mails.received.push(address);
      mails.subjects.push(Content.Simple.Subject.Data);
      mails.texts.push(Content.Simple.Body.Text.Data);
      const headers = Content.Simple.Headers as { Name: string; Value: string }[];
      const header = (name: string) => headers.find(({ Name }) => Name === name)?.Value ?? "";
      mails.deliveryIds.push(header("X-Delivery-Id"));
      mails.references.push(header("References"));
      response.end(JSON.stringify({ MessageId: "1" }));
    });
    const listening = await listenOn(server);
    close = listening.close;
    mails.connections = listening.connections;
    vi.stubEnv("AWS_ENDPOINT_URL_SESV2", `http://127.0.0.1:${listening.port}`);
    vi.stubEnv("SENDER_EMAIL", "alerts@acme.example");
  }, 60_000);
  beforeEach(() => {
    const none = () => false;
    const empty = { requests: [], received: [], subjects: [], texts: [], deliveryIds: [], references: [] };
    Object.assign(mails, { ...empty, refused: none, throttled: none, answer: undefined });
  });
  afterAll(() => close?.());
};

type Messages = [Message<"deliveries">, ...Message<"deliveries">[]];

/** Creates e-mail channels and raises one event for all of them. */
export const raiseFor = async (org: number, recipients: readonly string[][]): Promise<Messages> => {
  for (const each of recipients) {
    const form = { channel: "email", config: { recipients: each } } as const;
    await createChannel(org, {}, form, { notifyOnScanError: true });
  }
  return raiseAgain(org);
};

/** Raises one event for all channels of an organization. */
export const raiseAgain = async (org: number): Promise<Messages> => {
  const { writes, messages } = await raise(org, await channels.list(org), [
    { type: "scan_error", error: "Measured" },
  ]);
  await table.transact(deliveries.writes(org, writes));
  return messages.map(({ message }) => message) as Messages;
};

export const attempt = (message: Message<"deliveries">): Promise<void> => deliverOne(message, settings);

/** Makes the attempts of all e-mails whose messages are in the queues, and of those that come of them. */
export const sendAll = async (): Promise<void> => {
  for (;;) {
    const messages = [...(await takeMessages("deliveries")), ...(await takeMessages("delivery-retries"))];
    if (messages.length === 0) return;
    for (const message of messages) {
      const channel = await channels.get(message.organizationId, message.channelId);
      // Messages to owners are of no channel.
      if (channel === undefined || channel.channel === "email") await attempt(message);
    }
  }
};

/** Makes the next attempt of a delivery. */
export const attemptOf = (org: number, row: Delivery): Promise<void> => {
  const { channelId } = deliveries.groupOf(row);
  return attempt({ organizationId: org, deliveryId: row.id, channelId, attempt: row.attempts + 1 });
};

export const statusesOf = async (
  org: number,
  messages: readonly Message<"deliveries">[],
): Promise<string[]> =>
  Promise.all(
    messages.map(async ({ deliveryId }) => {
      const row = await deliveries.get(org, deliveryId);
      return `${row?.status} after ${row?.attempts}`;
    }),
  );
