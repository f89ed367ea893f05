import type { RequestListener } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { messageOf, send as sendTo } from "../../shared/alerting/kinds/email/mail.ts";
import type { Content } from "../../shared/alerting/messages/content.ts";
import { noticeOf } from "../../shared/alerting/messages/told.ts";
import { anyCharacter } from "../any-character.ts";
import { mails, useMailServer } from "./mail-deliveries.ts";
import {
  ada,
  breachReport,
  dashboardUrl,
  hostileTexts,
  problem,
  scanComplete,
  scanErrorOf,
} from "./notice.ts";

const render = (content: Content, organizationName = "Acme") =>
  messageOf(noticeOf(content, { organizationName, dashboardUrl }));

describe("a message", () => {
  test("of a breach event says who, what and when, and leads to the findings", () => {
    const report = breachReport([
      { title: "Adobe", domain: "adobe.com" },
      { domain: "", dataClasses: [], breachDate: "1970-01-01" },
    ]);
    const { subject, text } = render(report);
    expect(subject).toBe("High: Adobe and 1 more, passwords of 1 person at Acme");
    expect(text).toBe(`High: ada@acme.example appeared in 2 data breaches
==================================================

This monitored e-mail address was found in 2 data breaches that were not known before.

Address: ada@acme.example
Owner: Ada Lovelace
Team: Engines

* Adobe (adobe.com) · high
  Date of the breach: 2013-10-04
  Exposed: Passwords, Email addresses
  https://monitor.acme.example/api/app/findings?emailId=7&finding=101

* Breach 2 · high
  It is not known what was exposed.
  https://monitor.acme.example/api/app/findings?emailId=7&finding=102

Change the password there, and wherever it was used again, the account at work first.
Acknowledge each finding once it is handled.

See the findings of this address: https://monitor.acme.example/api/app/findings?emailId=7

-- 
Breach Monitor for Acme
Breach data: Have I Been Pwned (https://haveibeenpwned.com), CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)
`);
  });

  test("shows an address of an internationalized domain in both forms", () => {
    const { text } = render(breachReport([{}], { ...ada, address: "ada@xn--mnchen-3ya.example" }));
    expect(text).toContain("\nAddress: ada@münchen.example (ada@xn--mnchen-3ya.example)\n");
  });

  test("says the same as HTML", () => {
    const { subject, text, html } = render(breachReport([{ title: "Adobe", domain: "adobe.com" }]));
    const [title, ...shown] = shownText(html);
    expect(title).toBe(subject);
    expect(wordsOf(shown.join(" "))).toEqual(wordsOf(text));
    expect(linksOf(html)).toEqual([
      `${dashboardUrl}/findings?emailId=7&amp;finding=101`,
      `${dashboardUrl}/findings?emailId=7`,
      "https://haveibeenpwned.com",
      "https://creativecommons.org/licenses/by/4.0/",
    ]);
  });

  test("is a 600 px table with inline styles, one button and a dark mode", () => {
    const { html } = render(breachReport([{}, {}]));
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html).toContain("@media (prefers-color-scheme: dark)");
    expect(html.match(/<td bgcolor=/g)).toHaveLength(1);
    expect(html).not.toMatch(/<(img|script|link|div|ul)\b/);
    // What dark mode changes is set inline for programs that leave the style sheet out.
    for (const [, name = ""] of html.matchAll(/\.(\w+) \{/g))
      expect(html).toMatch(new RegExp(`class="${name}"[^>]* style=`));
  });

  test("is 600 px wide, also in Outlook's Word, which ignores max-width", () => {
    const { html } = render(breachReport([{}, {}]));
    const inWord = tablesAround("<h1", html.replace(/<!--\[if mso\]>(.*?)<!\[endif\]-->/gs, "$1"));
    expect(inWord.map(({ width }) => width)).toEqual(["100%", "600", "100%"]);
    const elsewhere = tablesAround("<h1", html.replace(/<!--.*?-->/gs, ""));
    expect(elsewhere.map(({ width }) => width)).toEqual(["100%", "100%"]);
    for (const [card] of [inWord.toReversed(), elsewhere.toReversed()])
      expect(card?.style).toContain("max-width: 600px");
    // A width in a style would override the one that Word reads.
    expect(html).not.toMatch(/style="[^"]*(?<!max-)width:/);
  });

  test("names no owner and no team where there is none", () => {
    const { text } = render(breachReport([{}], { ...ada, ownerName: null, teamName: null }));
    expect(text).toContain("Address: ada@acme.example\n\n* Breach 1");
    const blank = render(breachReport([{}], { ...ada, ownerName: " \u202E ", teamName: "" }));
    expect(blank.text).toBe(text);
  });

  test("of an e-mail that was removed names neither the address nor findings", () => {
    const { subject, text, html } = render(breachReport([{}, {}], null));
    expect(subject).toBe("High: An address that is no longer monitored appeared in 2 data breaches (Acme)");
    expect(text).toContain(
      "An address that is no longer monitored was found in 2 data breaches that were not known " +
        "before. Its findings were deleted when it was removed.\n\n* Breach 1 (breach-1.example) · " +
        "high\n  Date of the breach: 2013-10-04\n",
    );
    expect(text + html).not.toMatch(/ada|Address:|Owner:|Team:|findings\?/);
    expect(linksOf(html)).toHaveLength(2);
  });

  test("has a subject of at most 200 characters with both ends of an address", () => {
    const address = `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.example`;
    const breaches = Array(75).fill({
      title: "t".repeat(300),
      dataClasses: ["D".repeat(300)],
      severity: "critical",
    });
    const { subject, text } = render(breachReport(breaches, { ...ada, address }), "o".repeat(300));
    expect(subject).toMatch(/^Critical: t{49}… and 74 more, D{34}… of 1 person at o{59}…$/);
    expect(subject.length).toBeLessThanOrEqual(200);
    const [headline = ""] = text.split("\n");
    expect(headline).toMatch(/^Critical: a{29}…c{22}\.example appeared in 75 data breaches$/);
    expect(headline.length).toBeLessThanOrEqual(100);
    expect(text).toContain(`Address: ${address}\n`);
  });

  test("lists all of 75 breaches", () => {
    const { text, html } = render(breachReport(Array.from({ length: 75 }, () => ({}))));
    expect(text.match(/^\* Breach \d+ \(/gm)).toHaveLength(75);
    expect(html.match(/<strong><a [^>]*>Breach \d+ \(/g)).toHaveLength(75);
  });

  test("of a scan tells the counts or the problem, and leads to the scans", () => {
    expect(render(scanComplete).text).toContain(
      "Checked 99,995 of 100,000 monitored e-mail addresses. New findings: 3. Addresses that could not be checked: 5.",
    );
    const error = scanErrorOf(problem, 3);
    expect(render(error).text).toContain("could not be scanned & <will> be retried");
    expect(render(error).html).toContain("could not be scanned &amp; &lt;will&gt; be retried");
    for (const report of [scanComplete, error]) {
      const { text, html } = render(report);
      expect(text).toContain(`See the scans: ${dashboardUrl}/scans\n`);
      expect(linksOf(html)).toContain(`${dashboardUrl}/scans`);
    }
  });

  test("about a problem says it in the subject and links to the overview", () => {
    const error = 'Alerts do not reach the Slack alert channel 4 "Ops: EU": HTTP 404. Check its settings.';
    const { subject, text } = render(scanErrorOf(error));
    expect(subject).toBe('Alerts do not reach the Slack alert channel 4 "Ops: EU" (Acme)');
    expect(text).toContain(`\n\nHTTP 404. Check its settings.\n\nSee the overview: ${dashboardUrl}/\n`);
    const whole = "No active emails on verified domains were left to scan";
    expect(render(scanErrorOf(whole)).subject).toMatch(whole);
  });
});

describe("foreign text", () => {
  const reportOf = (title: string, domain: string, dataClass: string, name: string): Content =>
    breachReport([{ title, domain, dataClasses: [dataClass] }], { ...ada, ownerName: name, teamName: name });
  // The owner's name and the team's are left out where nothing of them can be shown.
  const plain = (name: string) =>
    render(reportOf("a", "a", "a", /^(\p{Cf}|\p{Cc}|\s)*$/u.test(name) ? "" : "a"), "a");

  const check = (title: string, domain: string, dataClass: string, name: string) => {
    const { subject, text, html } = render(reportOf(title, domain, dataClass, name), name);
    expect(subject).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}]{1,200}$/u);
    // The same number of lines and the same elements as with harmless text.
    expect(text.split("\n").length).toBe(plain(name).text.split("\n").length);
    expect(tagsOf(html)).toEqual(tagsOf(plain(name).html));
    for (const part of [subject, text, html]) {
      expect(part.isWellFormed()).toBe(true);
      expect(part).not.toMatch(/[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
      expect(part.length).toBeLessThan(20_000);
    }
  };

  test.each(hostileTexts.map((text) => [JSON.stringify(text.slice(0, 40)), text]))(
    "is shown as text: %s",
    (_name, text) => check(text, text, text, text),
  );

  test("is shown as text, whatever it is", () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 400 }),
      fc.string({ unit: fc.constantFrom("<", ">", "&", '"', "'", "/", "\r", "\n", "a", "=", "\ud83d") }),
      fc.constantFrom(...hostileTexts),
    );
    fc.assert(fc.property(text, text, text, text, check));
  });

  test("no program makes a link of an owner's or a team's name", () => {
    const { text } = render(
      breachReport([{}], { ...ada, ownerName: "see evil.example/x", teamName: "evil.example" }),
    );
    expect(text).toContain("\nOwner: see evil\u200b.example/x\n");
    expect(text).toContain("\nTeam: evil\u200b.example\n");
  });

  test("of 200 characters is shown whole and apart from our own text", () => {
    const ownerName = "ש".repeat(200);
    const { text, html } = render(breachReport([{}], { ...ada, ownerName }));
    expect(text).toContain(`\nOwner: ${ownerName}\n`);
    expect(html).toContain(`Owner: <bdi>${ownerName}</bdi>`);
  });

  test("in an address cannot add a header to the mail", () => {
    const address = "ada@acme.example\r\nBcc: eve@evil.example";
    const { subject, text } = render(
      breachReport([{ title: "Adobe\r\nBcc: x@evil.example" }], { ...ada, address }),
    );
    expect(subject).toBe("High: Adobe Bcc: x@evil.example, passwords of 1 person at Acme");
    expect(text).toMatch(/^High: ada@acme\.example Bcc: eve@evil\.example appeared in a data breach\n/);
  });
});

describe("sending", () => {
  const notice = noticeOf(breachReport([{}]), { organizationName: "Acme", dashboardUrl });
  useMailServer();
  beforeAll(() => {
    vi.stubEnv("AWS_REGION", "us-east-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  /** Whom the last call of `send` reached. */
  let reached: readonly string[] = [];
  const send = async (addresses: string[]) => {
    const recipients = addresses.map((email, index) => ({ email, token: `1.name.${index}` }));
    const result = await sendTo(recipients, 41, notice, "https://monitor.example/api/app");
    const { reached: addressesReached = [], ...outcome } = result;
    reached = addressesReached;
    return outcome;
  };
  const refuse =
    (name: string): RequestListener =>
    (_request, response) =>
      response
        .writeHead(400, { "x-amzn-errortype": name })
        .end(JSON.stringify({ message: "s3cret@acme.example is not verified" }));

  const rejected = { failure: "message rejected: sender or recipient not verified, or content refused" };

  test("without a sender fails with a reason", async () => {
    for (const sender of [undefined, ""]) {
      vi.stubEnv("SENDER_EMAIL", sender);
      const failure = "e-mail sending is not set up";
      expect(await send(["ada@acme.example"])).toEqual({ failure, isOperators: true });
    }
    vi.stubEnv("SENDER_EMAIL", "alerts@acme.example");
    expect(mails.requests).toEqual([]);
  });

  test("to one recipient names the recipient, the sender and the delivery", async () => {
    expect(await send(["ada@acme.example"])).toEqual({ status: 200 });
    expect(mails.requests).toHaveLength(1);
    expect(mails.requests[0]).toMatchObject({
      url: "/v2/email/outbound-emails",
      body: {
        FromEmailAddress: "Breach Monitor <alerts@acme.example>",
        Destination: { ToAddresses: ["ada@acme.example"] },
        Content: {
          Simple: {
            Headers: [
              { Name: "Auto-Submitted", Value: "auto-generated" },
              { Name: "X-Auto-Response-Suppress", Value: "OOF, AutoReply" },
              { Name: "X-Delivery-Id", Value: "41" },
              {
                Name: "References",
                Value: "<breach-1@breach-monitor.invalid> <scan-12@breach-monitor.invalid>",
              },
              {
                Name: "List-Unsubscribe",
                Value: "<https://monitor.example/api/dashboard/recipients/1.name.0/unsubscribe>",
              },
              { Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click" },
            ],
          },
        },
      },
    });
  });

  test("to several recipients is a message to each, with a link of its own", async () => {
    const recipients = Array.from({ length: 20 }, (_, index) => `p${index}@acme.example`);
    expect(await send(recipients)).toEqual({ status: 200 });
    expect(mails.received.sort()).toEqual(recipients.sort());
    expect(reached.toSorted()).toEqual(recipients);
    const links = mails.texts.map((text) => /Unsubscribe: (\S+)\n/.exec(text)?.[1]);
    expect(new Set(links).size).toBe(recipients.length);
    expect(links[0]).toMatch(/^https:\/\/monitor\.example\/api\/app\/recipient#1\.name\.\d+$/);
  });

  test("of which one is refused reaches the others, and fails", async () => {
    mails.refused = (address) => address.startsWith("p1@");
    const addresses = ["p0@acme.example", "p1@acme.example", "p2@acme.example"];
    expect(await send(addresses)).toEqual(rejected);
    expect(reached.toSorted()).toEqual(["p0@acme.example", "p2@acme.example"]);
  });

  const busy = { failure: "limit of e-mail sending reached", isOperators: true, retryAfterSeconds: 0 };
  test.each([
    ["MessageRejected", rejected],
    ["MailFromDomainNotVerifiedException", { failure: "sender is not verified", isOperators: true }],
    ["SomethingNew", { failure: "e-mail service failed" }],
    ["TooManyRequestsException", busy],
    ["LimitExceededException", busy],
    ["ThrottlingException", busy],
  ])("that SES refuses with %s fails once, with a reason without addresses", async (name, outcome) => {
    mails.answer = refuse(name);
    expect(await send(["ada@acme.example"])).toEqual(outcome);
    expect(mails.requests).toHaveLength(1);
  });

  test("fails when SES cannot be reached", async () => {
    mails.answer = (request) => request.socket.destroy();
    expect(await send(["ada@acme.example"])).toEqual({ failure: "e-mail service failed" });
  });

  test("goes out after any number of milliseconds of an attempt", async () => {
    // Seconds that are converted back, as 8.191 * 1,000, are no whole number, and timers refuse it.
    for (const passed of [1, 1_809, 8_999]) {
      const begin = Date.now();
      const clock = vi.spyOn(Date, "now").mockReturnValueOnce(begin);
      clock.mockReturnValueOnce(begin + passed);
      expect(await send(["ada@acme.example"])).toEqual({ status: 200 });
      clock.mockRestore();
    }
  });

  test("ends after 10 seconds, together with its connection", async () => {
    mails.answer = () => undefined;
    const { timeout } = AbortSignal;
    const timer = vi
      .spyOn(AbortSignal, "timeout")
      .mockImplementation((time) => timeout(Math.round(time / 50)));
    expect(await send(["ada@acme.example"])).toEqual({ failure: "timeout" });
    const [[milliseconds = 0] = []] = timer.mock.calls;
    expect(milliseconds).toBeGreaterThan(5_000);
    expect(milliseconds).toBeLessThanOrEqual(10_000);
    timer.mockRestore();
    await expect.poll(() => mails.connections.size).toBe(0);
  });
});

const tagsOf = (html: string): string[] => html.match(/<[^>]*>/g) ?? [];

/** The tables around a text, the outermost first. Every element must end in its order. */
const tablesAround = (what: string, html: string): { width: string; style: string }[] => {
  const open: string[] = [];
  let around: string[] | undefined;
  for (const tag of tagsOf(html)) {
    if (tag.startsWith(what)) around = [...open];
    const [, slash, name = ""] = /^<(\/?)(\w+)/.exec(tag) ?? [];
    if (/^(meta|br)?$/.test(name)) continue;
    if (slash === "") open.push(tag);
    else expect(open.pop()).toMatch(new RegExp(`^<${name}\\b`));
  }
  expect(open).toEqual([]);
  const attribute = (name: string, tag: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
  const tables = (around ?? []).filter((tag) => tag.startsWith("<table"));
  return tables.map((tag) => ({ width: attribute("width", tag), style: attribute("style", tag) }));
};

const linksOf = (html: string): string[] => [...html.matchAll(/ href="([^"]*)"/g)].map(([, url = ""]) => url);

/** The words of a text without its urls. */
const wordsOf = (text: string): string[] => text.replace(/https:\S+/g, "").match(/[\p{L}\p{N}@.]+/gu) ?? [];

/** The texts between the tags, as a browser shows them. */
const shownText = (html: string): string[] =>
  html
    .replace(/<style>.*?<\/style>/s, "")
    .split(/<[^>]*>/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
