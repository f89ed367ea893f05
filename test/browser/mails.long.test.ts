/**
 * The messages of a first scan of 1,090 people and of later scans, in every channel, as docs/alerts.md shows
 * them. `npm run screenshots` writes that part of the document, and takes the pictures of the mails.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import type { LocalService } from "../../local/harness/service.ts";
import type { SlackMessage } from "../../shared/alerting/kinds/slack/message.ts";
import { createPasskey } from "../access/sign-in/authenticator.ts";
import { slackFaults } from "../alerting/slack-rules.ts";
import { addPasskey } from "../dashboard/passkeys.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { project } from "../docs/markdown.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createChannel } from "../service/alert-channels.ts";
import type { Client } from "../service/client.ts";
import { eventually } from "../service/eventually.ts";
import { readLocalStack } from "../service/local-stack.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { startOwnService } from "../service/own-service.ts";
import { scan } from "../service/scan.ts";
import { axe, problems } from "./axe.ts";
import { useBrowser, visit } from "./visit.ts";

useBrowser();

const domain = "acme.example";
const team = "security@acme.example";
const colleague = "grace.hopper@acme.example";
const watched = 1_400;
const found = 1_090;
const people = 212;

/** A message as it arrived; `html` and `recipient` of a mail. */
type Message = { subject: string; html: string; recipient: string };

let hibp: HibpServer;
let receiver: Receiver;
let service: LocalService;
let organization: Organization;
/** As a colleague sees it. */
let dashboard: Client;
const channels = { mail: 0, slack: 0 };
/** What happened, and how many messages for people, and events, there were after it. */
const steps: { happened: string; messages: number; events: number; isAtOnce: boolean }[] = [];

const addressOf = (index: number): string => `person-${index}@${domain}`;
const named = [
  ["Old Forum", 2012, ["Email addresses", "Usernames", "Passwords"]],
  ["Example Shop", 2019, ["Email addresses", "Names", "Phone numbers", "Physical addresses"]],
  ["Newsletter Leads", 2021, ["Email addresses", "Names", "Job titles", "Employers"]],
  ["PayrollPro", 2026, ["Email addresses", "Names", "Passwords", "Bank account numbers", "Phone numbers"]],
  ["Private Clinic", 2026, ["Email addresses", "Personal health data"]],
  ["Travel Club", 2026, ["Email addresses", "Passwords", "Passport numbers"]],
] as const;
const nameOf = (title: string): string => title.replace(" ", "");
const catalog = named.map(([title, year, dataClasses]) => ({
  ...inventedBreach(nameOf(title), title),
  BreachDate: `${year}-02-02`,
  DataClasses: [...dataClasses],
  IsSensitive: title === "Private Clinic",
}));

const slackMessages = () => receiver.requests.filter(({ path }) => path === "/slack");
const webhookEvents = () => receiver.requests.filter(({ path }) => path === "/webhook");

const mails = async (): Promise<Message[]> => {
  const outbox = join((await readLocalStack(service.apiUrl)).dataDirectory, "outbox");
  const files = (await readdir(outbox)).filter((name) => name.endsWith(".eml")).sort();
  return Promise.all(files.map(async (name) => messageIn(await readFile(join(outbox, name), "utf8"))));
};

const messageIn = (mail: string): Message => {
  const [, html = ""] = /\r\nContent-Type: text\/html.*?\r\n\r\n(.*?)\r\n--/s.exec(mail) ?? [];
  return {
    subject: /^Subject: (.+?)\r$/m.exec(mail)?.[1] ?? "",
    recipient: /^To: (.+?)\r$/m.exec(mail)?.[1] ?? "",
    html,
  };
};
const toTeam = async () => (await mails()).filter(({ recipient }) => recipient === team);

/**
 * Does something, and waits until it has made so many events. At most so many messages for people may come,
 * and all have arrived. `isAtOnce`: they are raised together, and arrive in any order.
 */
const step = async (
  happened: string,
  act: () => Promise<unknown>,
  expected: { messages: number; events: number; isAtOnce?: boolean },
): Promise<void> => {
  const count = async () => {
    const totals = await Promise.all(
      [channels.mail, channels.slack].map(
        async (id) => (await dashboard.get(`/alert-configs/${id}/deliveries?limit=1`)).body.total as number,
      ),
    );
    const [slack, mails] = [slackMessages().length, (await toTeam()).length];
    const isOver = totals.every((total) => total === slack && total === mails);
    return { messages: mails, events: webhookEvents().length, isOver };
  };
  const before = await count();
  await act();
  const now = await eventually(
    count,
    ({ messages, events, isOver }) =>
      isOver && messages > before.messages && events === before.events + expected.events,
    400,
  );
  expect(now.messages - before.messages).toBeLessThanOrEqual(expected.messages);
  steps.push({ happened, ...now, isAtOnce: expected.isAtOnce ?? false });
};

const scanFor = (accounts: Record<string, readonly string[]>) => async () => {
  for (const [address, titles] of Object.entries(accounts))
    hibp.accounts[address] = [...(hibp.accounts[address] ?? []), ...titles.map(nameOf)];
  expect(await scan(organization.api, 300)).toMatchObject({ status: "completed" });
};

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  hibp = await startHibpServer();
  Object.assign(hibp, { covered: [domain], catalog });
  receiver = await startReceiver({
    respond: ({ url }, response) =>
      url === "/gone" ? response.writeHead(404).end("no_service") : response.writeHead(200).end("ok"),
  });
  service = await startOwnService(["--memory", "--hibp-url", hibp.url, "--allow-origin", receiver.origin]);
  const { apiUrl } = service;
  organization = await createOrganization({ name: "Acme" }, { domain, apiUrl });
  const { id: org, api, domainId } = organization;
  const all = Array.from({ length: watched }, (_, index) => addressOf(index));
  await admin("email import", { org, file: await writeAddresses(all) }, apiUrl);
  ({ dashboard } = await signedIn(org, { email: colleague, apiUrl }));
  const ownerName = "Grace Hopper";
  await api.post("/emails", { email: colleague, domainId, ownerName });
  // The first ones would be told of those that follow.
  const deaf = { notifyOnScanError: false };
  channels.mail = await createChannel(api, { channel: "email", config: { recipients: [team] }, ...deaf });
  const webhookUrl = `${receiver.origin}/slack`;
  channels.slack = await createChannel(api, { channel: "slack", config: { webhookUrl }, ...deaf });
  await createChannel(api, { channel: "webhook", config: { url: `${receiver.origin}/webhook` } });
  for (const id of [channels.mail, channels.slack])
    expect((await api.patch(`/alert-configs/${id}`, { notifyOnScanError: true })).status).toBe(200);
}, 300_000);
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await hibp?.close();
});

const inFirst = (count: number, titles: (index: number) => string[]): Record<string, string[]> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [addressOf(index), titles(index)]));

const onPhone = new Set(["first-scan", "many-people", "one-person", "owner"]);

const take = async (
  page: Page,
  name: string,
  width: number,
  colorScheme: "light" | "dark",
): Promise<void> => {
  const directory = join(project, "docs/screenshots/mails");
  await mkdir(directory, { recursive: true });
  await page.setViewportSize({ width, height: 200 });
  await page.emulateMedia({ colorScheme });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
};

describe("what people get", () => {
  test("from a first scan, a large breach, single people and trouble", async () => {
    const { api } = organization;
    const [forum = "", shop = "", leads = ""] = named.map(([title]) => title);
    await step(
      `The first scan of ${(watched + 1).toLocaleString("en-US")} addresses finds ` +
        `${found.toLocaleString("en-US")} people in three breaches`,
      scanFor(
        inFirst(found, (index) => [forum, ...(index % 2 ? [shop] : []), ...(index % 3 ? [leads] : [])]),
      ),
      { messages: 1, events: found },
    );
    await step(`PayrollPro is new: ${people} people`, scanFor(inFirst(people, () => ["PayrollPro"])), {
      messages: 1,
      events: people,
    });
    await step("One person in a sensitive breach", scanFor({ [addressOf(7)]: ["Private Clinic"] }), {
      messages: 1,
      events: 1,
    });
    await step("One person in Travel Club", scanFor({ [colleague]: ["Travel Club"] }), {
      messages: 1,
      events: 1,
    });
    await step(
      "Have I Been Pwned refuses the key during a scan",
      async () => {
        hibp.fail = (path) => (/^breached/.test(path) ? { status: 401 } : undefined);
        await scan(api, 300);
        hibp.fail = () => undefined;
      },
      { messages: 2, events: 2, isAtOnce: true },
    );
    await step(
      "Another Slack channel is added, and its hook is gone",
      async () => {
        const webhookUrl = `${receiver.origin}/gone`;
        const id = await createChannel(api, { channel: "slack", config: { webhookUrl } });
        await dashboard.post(`/alert-configs/${id}/test`);
      },
      { messages: 2, events: 1, isAtOnce: true },
    );
    for (const { body } of slackMessages()) expect(slackFaults(JSON.parse(String(body)))).toEqual([]);
    const subjects = inOrder((await toTeam()).map(({ subject }) => subject));
    const posts = inOrder(
      slackMessages().map(({ body }) => JSON.parse(String(body)) as SlackMessage),
      ({ text }) => text,
    );
    expect(posts.map(({ text }) => text)).toEqual(subjects);
    expect(subjects.join("\n")).not.toMatch(/Clinic/);
    const got = `\n${asTable(subjects)}\n\n${asRead(posts)}\n`;
    const page = join(project, "docs/alerts.md");
    const text = await readFile(page, "utf8");
    const [shown = ""] = /(?<=<!-- got -->\n).*(?=<!-- \/got -->)/s.exec(text) ?? [];
    if (process.env.SCREENSHOTS !== undefined)
      await writeFile(
        page,
        text.replace(shown, () => got),
      );
    else expect(withoutNumbers(shown)).toBe(withoutNumbers(got));
  }, 900_000);

  test("looks right on a screen and a phone, in light and dark", async () => {
    const { api } = organization;
    const { body } = await api.get("/breaches?limit=100");
    const ofColleague = (body.breaches as { id: number; email: string }[]).filter(
      ({ email }) => email === colleague,
    );
    await dashboard.post("/findings/tell", { ids: ofColleague.map(({ id }) => id) });
    await dashboard.post("/members", {
      email: "joan.clarke@acme.example",
      name: "Joan Clarke",
      role: "member",
    });
    await dashboard.post("/sign-in/links", { email: "joan.clarke@acme.example" });
    await addPasskey(dashboard, createPasskey(new URL(service.apiUrl).origin));
    const pictures: Record<string, RegExp> = {
      "first-scan": /the first scan found/,
      "many-people": /PayrollPro, .+ of 2\d\d people/,
      sensitive: /^A sensitive breach/,
      "one-person": /Travel Club, .+ of 1 person at/,
      "scan-error": /could be scanned/,
      "failing-channel": /do not reach/,
      owner: /your address is in/,
      invitation: / invites you to /,
      "sign-in": /^Sign in to/,
      passkey: /^A passkey was added/,
    };
    const isThere = (all: Message[]) => (pattern: RegExp) => all.some(({ subject }) => pattern.test(subject));
    const all = await eventually(mails, (some) => Object.values(pictures).every(isThere(some)), 200);
    const { page } = await visit([], service.apiUrl);
    for (const [name, pattern] of Object.entries(pictures)) {
      const { html, subject } = all.find((mail) => pattern.test(mail.subject)) as Message;
      await page.setContent(html);
      await page.addScriptTag({ path: axe });
      // Mails have no landmarks, which further rules ask for.
      expect([subject, await problems(page, ["wcag2a", "wcag2aa"])]).toEqual([subject, []]);
      if (process.env.SCREENSHOTS === undefined) continue;
      await take(page, name, 640, "light");
      if (onPhone.has(name)) await take(page, `${name}-narrow`, 375, "dark");
    }
  });
});

/** Which people are told first is not the same each time. */
const withoutNumbers = (text: string): string => text.replaceAll(/person-\d+@/g, "person-…@");

/** Those of each step, in their order. */
const byStep = <Each>(all: readonly Each[]): Each[][] =>
  steps.map(({ messages }, index) => all.slice(steps[index - 1]?.messages ?? 0, messages));

/** As they arrived, but those that were raised at once by their words. */
const inOrder = <Each>(all: readonly Each[], wordsOf: (each: Each) => string = String): Each[] =>
  byStep(all).flatMap((some, index) =>
    steps[index]?.isAtOnce ? some.toSorted((one, other) => (wordsOf(one) < wordsOf(other) ? -1 : 1)) : some,
  );

/** What comes several times in a row, once. */
const repeated = (texts: readonly string[]): { text: string; times: number }[] => {
  const runs: { text: string; times: number }[] = [];
  for (const text of texts) {
    const last = runs.at(-1);
    if (last !== undefined && withoutNumbers(last.text) === withoutNumbers(text)) last.times++;
    else runs.push({ text, times: 1 });
  }
  return runs;
};

const timesOf = (times: number): string => (times === 1 ? "" : ` (${times} times)`);

/**
 * Markdown: what happened, the messages of Slack and e-mail, which are the same, and how many events the webhook got.
 */
const asTable = (subjects: readonly string[]): string => {
  const said = byStep(subjects).map((some) => repeated(some).map(({ text, times }) => text + timesOf(times)));
  const rows = steps.map(({ happened, events }, index) => {
    const more = events - (steps[index - 1]?.events ?? 0);
    return `| ${happened} | ${said[index]?.join("<br>")} | ${more.toLocaleString("en-US")} |`;
  });
  return [
    "| What happens | Slack and e-mail, one message each | Webhook, events |",
    "|---|---|---|",
    ...rows,
  ].join("\n");
};

/**
 * What the Slack channel shows, in its order: brackets stand for a button. The line with which each post ends
 * is left out.
 */
const asRead = (posts: readonly SlackMessage[]): string => {
  const shown = byStep(posts.map(linesOf)).flatMap(repeated);
  const texts = shown.map(({ text, times }) => (times === 1 ? text : `${text}\n${timesOf(times).trim()}`));
  const summary =
    "<summary>What the Slack channel shows of it, in order, each with the last line " +
    `"${lastLine}"</summary>`;
  return `<details>${summary}\n\n\`\`\`text\n${texts.join("\n\n")}\n\`\`\`\n\n</details>`;
};

const lastLine = "Acme · Breach data: Have I Been Pwned, CC BY 4.0";

const linesOf = ({ blocks, attachments }: SlackMessage): string => {
  const texts = [...blocks, ...attachments.flatMap((each) => each.blocks)].map(textOf);
  expect(texts.pop()).toBe(lastLine);
  return texts.join("\n");
};

const textOf = (block: SlackMessage["blocks"][number]): string => {
  switch (block.type) {
    case "actions":
      return block.elements.map(({ text }) => `[ ${text.text} ]`).join(" ");
    case "context":
      return block.elements.map(({ text }) => withoutMarkup(text)).join(" ");
    default:
      return withoutMarkup(block.text.text);
  }
};

const withoutMarkup = (text: string): string =>
  text
    .replaceAll(/<[^|>]*\|([^>]*)>/g, "$1")
    .replaceAll(/^\*(.*)\*$/gm, "$1")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
