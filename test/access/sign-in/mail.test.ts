import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { logger } from "../../../bench/in-process.ts";
import { hashOf } from "../../../shared/access/keys/secret.ts";
import * as users from "../../../shared/access/members/user.ts";
import { deliver as deliverNotice } from "../../../shared/access/notices/deliver.ts";
import { type Notice, newNotices } from "../../../shared/access/notices/notice.ts";
import { deliver } from "../../../shared/access/sign-in/mail.ts";
import { sweepMail } from "../../../shared/access/sign-in/mail-row.ts";
import { newInvitation, requestLink } from "../../../shared/access/sign-in/request.ts";
import { dueIndex, dueShardsOf, type Key, keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { useEngine } from "../../aws/table/engine.ts";
import { type Command, intercept } from "../../aws/table/intercept.ts";
import * as accounts from "../organizations/accounts.ts";

type Mail = {
  Destination: { ToAddresses: string[] };
  Content: { Simple: { Body: { Text: { Data: string }; Html: { Data: string } } } };
};

/** A new key, as a notice tells of it. */
const backup = { label: "Backup", access: "full", expiresAt: null } as const;

useEngine();
let server: Server;
let org: number;
/** What the servers of SQS and SES got, and whether they accept it. */
const messages: { mailId: string; isNotice?: true }[] = [];
const mails: Mail[] = [];
let accepts = { queue: true, mail: true };

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    const isMail = request.url === "/v2/email/outbound-emails";
    const isAccepted = isMail ? accepts.mail : accepts.queue;
    if (isAccepted && isMail) mails.push(body);
    if (isAccepted && !isMail) messages.push(JSON.parse(body.MessageBody));
    response.writeHead(isAccepted ? 200 : 400, { "content-type": "application/x-amz-json-1.0" });
    // The SDK checks what SQS says that it got.
    const MD5OfMessageBody = createHash("md5")
      .update(body.MessageBody ?? "")
      .digest("hex");
    response.end(JSON.stringify(isAccepted ? { MessageId: "1", MD5OfMessageBody } : { __type: "Refused" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SQS: url,
    AWS_ENDPOINT_URL_SESV2: url,
    SIGN_IN_MAILS_QUEUE_URL: `${url}/000000000000/sign-in-mails`,
    SENDER_EMAIL: "alerts@acme.example",
    DASHBOARD_URL: "https://breaches.acme.example/api/app",
  });
  org = await accounts.createOrganization();
});
afterAll(async () => {
  server.close();
});
beforeEach(() => {
  accepts = { queue: true, mail: true };
  messages.length = 0;
  mails.length = 0;
});

const createUser = (email: string) => accounts.createUser(org, email);

const dueMails = async (): Promise<Key[]> => {
  const pages = dueShardsOf("SIGN-IN-MAIL").map((pk) => table.query<Key>({ index: dueIndex, pk }));
  return (await Promise.all(pages)).flat();
};

const sweepAfter = async (minutes: number): Promise<void> => {
  const now = new Date(Date.now() + minutes * 60_000);
  for (const key of await dueMails()) await sweepMail(key, { now, silenceSeconds: 60, logger });
};

const lastMessage = (): string => messages.at(-1)?.mailId ?? "";

describe("asking for a link", () => {
  test("does the same, whether somebody has the address or not", async () => {
    await createUser("known@acme.example");
    const tracesOf = async (email: string): Promise<string[]> => {
      const trace: string[] = [];
      const restore = intercept<Command>("initialize", (next, { commandName = "" }) => (sent) => {
        trace.push(`${commandName} ${JSON.stringify(sent.input).replaceAll(email, "").length}`);
        return next(sent);
      });
      await requestLink(email);
      restore();
      return trace;
    };
    const known = await tracesOf("known@acme.example");
    expect(await tracesOf("nobody@acme.example")).toEqual(known);
    expect(known).toHaveLength(2);
    expect(messages).toHaveLength(2);
    expect(Object.keys(messages[0] ?? {}).sort()).toEqual(["mailId", "v"]);
  });

  test("succeeds when the queue fails; the sweep sends it later", async () => {
    await createUser("late@acme.example");
    accepts.queue = false;
    await requestLink("late@acme.example");
    expect(messages).toEqual([]);
    accepts.queue = true;
    await sweepAfter(0.9);
    expect(messages).toEqual([]);
    await sweepAfter(1.1);
    for (const { mailId } of messages) await deliver(mailId);
    expect(mails.map(({ Destination }) => Destination.ToAddresses)).toContainEqual(["late@acme.example"]);
  });

  test("is forgotten after 15 minutes without success", async () => {
    await requestLink("forgotten@acme.example");
    messages.length = 0;
    await sweepAfter(60);
    expect(messages).toEqual([]);
    expect(await dueMails()).toEqual([]);
  });
});

describe("the worker", () => {
  test("mails a link once and deletes the row, also that of nobody's address", async () => {
    const user = await createUser("ada@acme.example");
    await requestLink(user.email);
    await deliver(lastMessage());
    await deliver(lastMessage());
    expect(mails).toHaveLength(1);
    expect(mails[0]?.Content.Simple.Body.Text.Data).toMatch(
      /^https:\/\/breaches\.acme\.example\/api\/app\/sign-in#[0-9A-Za-z]{32}$/m,
    );
    expect(await table.get(keys.signInMail(lastMessage()))).toBeUndefined();
    await requestLink("stranger@acme.example");
    await deliver(lastMessage());
    expect(await table.get(keys.signInMail(lastMessage()))).toBeUndefined();
    expect(mails).toHaveLength(1);
  });

  test("names no address in its error when SES refuses, and sends later", async () => {
    const user = await createUser("retry@acme.example");
    await requestLink(user.email);
    accepts.mail = false;
    const failure = await deliver(lastMessage()).catch((error: Error) => error.message);
    expect(failure).toMatch(/could not be sent/);
    expect(failure).not.toContain(user.email);
    accepts.mail = true;
    await deliver(lastMessage());
    expect(mails).toHaveLength(1);
  });

  test("sends notices of passkeys, keys and admins beyond the budget", async () => {
    const id = await accounts.createOrganization("Thrifty");
    await table.update(keys.organization(id), { set: { mailBudget: { hour: 0, day: 0 } } });
    const user = await accounts.createUser(id, "keyed@acme.example");
    const passkey = { createdAt: "2026-02-03T04:05:06.789Z", browser: "Firefox on Windows" };
    const by = "eve@acme.example";
    const tell = async (notice: Notice): Promise<string> => {
      const notices = newNotices(id, [user]);
      await table.transact(notices.writes(notice));
      await notices.send();
      await deliverNotice(lastMessage());
      const { Destination, Content } = mails.at(-1) as Mail;
      expect(Destination.ToAddresses).toEqual(["keyed@acme.example"]);
      return Content.Simple.Body.Text.Data;
    };
    expect(await tell({ about: "passkey", change: "added", ...passkey })).toMatch(
      new RegExp(
        "^A passkey was added to your account at Thrifty in Firefox on Windows on 2026-02-03" +
          " at 04:05 UTC\\..*^https://breaches\\.acme\\.example/api/app/settings/sessions$",
        "ms",
      ),
    );
    expect(await tell({ about: "passkey", change: "removed", ...passkey })).toMatch(
      /^The passkey that was added .+ in Firefox on Windows .+ was removed\./,
    );
    expect(await tell({ about: "api_key", ...backup, by })).toMatch(
      /^eve@acme\.example created the API key "Backup" of Thrifty\. Whoever has it can use .*\/settings\/api-keys$/ms,
    );
    const expiresAt = "2030-02-03T04:05:06.000Z";
    expect(await tell({ about: "api_key", label: "Backup", access: "read", expiresAt, by })).toMatch(
      /Whoever has it can read all .+, without signing in, until 2030-02-03 at 04:05 UTC\./,
    );
    const email = "mallory@acme.example";
    expect(await tell({ about: "admin", change: "added", email, by })).toMatch(
      /^eve@acme\.example made mallory@acme\.example an admin of Thrifty\..*\/settings\/members$/ms,
    );
    expect(await tell({ about: "admin", change: "removed", email, by })).toMatch(
      /^mallory@acme\.example is no longer an admin of Thrifty\. This was done by eve@acme\.example\./,
    );
    expect(await tell({ about: "channel", what: "It was changed.", by: 'the API key "CI"' })).toMatch(
      /^It was changed\. This was done by the API key "CI"\..*\/alerts$/ms,
    );
    expect(mails).toHaveLength(7);
  });

  test("sends no passkey notice to a removed user, or without a sender", async () => {
    const user = await createUser("silent@acme.example");
    const notice = { about: "passkey", change: "added", createdAt: new Date().toISOString() } as const;
    const notices = newNotices(org, [user]);
    await createUser("other-admin@acme.example");
    await users.remove(org, user.id);
    await table.transact(notices.writes(notice));
    await notices.send();
    await deliverNotice(lastMessage());
    expect(mails).toEqual([]);
    // What else was done concerns those too who were removed by whoever did it.
    await table.transact(notices.writes({ about: "api_key", ...backup, by: "eve@acme.example" }));
    await notices.send();
    await deliverNotice(lastMessage());
    expect(mails.map(({ Destination }) => Destination.ToAddresses)).toEqual([["silent@acme.example"]]);
    process.env.SENDER_EMAIL = "";
    expect(newNotices(org, [user]).writes(notice)).toEqual([]);
    process.env.SENDER_EMAIL = "alerts@acme.example";
  });

  test("tries a notice for two days, also by the sweep when SES refuses it", async () => {
    const notices = newNotices(org, [await createUser("late-notice@acme.example")]);
    await table.transact(notices.writes({ about: "api_key", ...backup, by: "eve@acme.example" }));
    await notices.send();
    const mailId = lastMessage();
    accepts.mail = false;
    const failure = await deliverNotice(mailId).catch((error: Error) => error.message);
    expect(failure).toMatch(/could not be sent/);
    expect(failure).not.toContain("late-notice");
    messages.length = 0;
    // However often it was in vain, within half an hour.
    for (let hours = 1; hours < 48; hours++) await sweepAfter(60 * hours);
    expect(messages).toEqual(Array.from({ length: 47 }, () => ({ mailId, isNotice: true, v: 1 })));
    await sweepAfter(60 * 49);
    expect(await table.get(keys.notice(mailId))).toBeUndefined();
  });

  test("shows the link as text too, because mail programs cut off its #", async () => {
    const user = await createUser("copying@acme.example");
    await requestLink(user.email);
    await deliver(lastMessage());
    const [{ Content }] = mails as [Mail];
    const body = Content.Simple.Body;
    const [url = "nothing"] = /^https:\S+$/m.exec(body.Text.Data) ?? [];
    expect(body.Html.Data.replace(/<[^>]*>/g, "")).toContain(url);
  });

  test("sends a new user an invitation that is valid for 7 days", async () => {
    const { write: invitation, send } = newInvitation(org, "boss@acme.example <script>");
    const user = await accounts.createUser(org, "new@acme.example", { role: "member" }, { invitation });
    expect(await send()).toBe(true);
    await deliver(lastMessage());
    const [{ Content }] = mails as [Mail];
    const body = Content.Simple.Body;
    expect(body.Text.Data).toContain("boss@acme.example <script> invites you to “Acme”.");
    expect(body.Html.Data).toContain("boss@acme.example &lt;script&gt;");
    const [, token = ""] = /sign-in#(\w+)/.exec(body.Text.Data) ?? [];
    const link = await table.get<{ expiresAt: number; userId: number }>(keys.signInLink(hashOf(token)));
    expect(link?.userId).toBe(user.id);
    expect(Math.round(((link?.expiresAt ?? 0) - Date.now() / 1000) / 86_400)).toBe(7);
  });
});
