import { createServer, type RequestListener } from "node:http";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { messageOf, send } from "../../shared/alerts/mail.ts";
import { noticeOf } from "../../shared/alerts/notice.ts";
import { breachEvent, hostileTexts, scanComplete, scanError } from "./notice.ts";
import { listenOnLoopback } from "./receiver.ts";

const render = (event: Parameters<typeof noticeOf>[0], organizationName = "Acme") =>
  messageOf(noticeOf(event, { organizationName }));

describe("a message", () => {
  test("of a breach event is readable as text", () => {
    const event = breachEvent({ title: "Adobe", domain: "adobe.com" }, { domain: "", dataClasses: [] });
    const { subject, text } = render(event);
    expect(subject).toBe("An e-mail address appeared in 2 data breaches (Acme)");
    expect(text).toBe(`An e-mail address appeared in 2 data breaches
=============================================

A monitored e-mail address was found in 2 data breaches that were not known before.

* Adobe (adobe.com)
  Exposed: Email addresses, Passwords

* Breach 2
  It is not known what was exposed.

Your findings name the address. Acknowledge each finding once it is handled.

-- 
Breach Monitor for Acme
Breach data: Have I Been Pwned (https://haveibeenpwned.com), CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)
`);
  });

  test("says the same as HTML", () => {
    const { html } = render(breachEvent({ title: "Adobe", domain: "adobe.com" }));
    expect(shownText(html)).toEqual([
      "An e-mail address appeared in a data breach (Acme)",
      "An e-mail address appeared in a data breach",
      "A monitored e-mail address was found in a data breach that was not known before.",
      "Adobe (adobe.com)",
      "Exposed: Email addresses, Passwords",
      "Your findings name the address. Acknowledge each finding once it is handled.",
      "Breach Monitor for Acme",
      "Breach data:",
      "Have I Been Pwned",
      ",",
      "CC BY 4.0",
    ]);
    expect(html).toContain('<a href="https://haveibeenpwned.com">Have I Been Pwned</a>');
  });

  test("lists all of 75 breaches", () => {
    const { text, html } = render(breachEvent(...Array.from({ length: 75 }, () => ({}))));
    expect(text.match(/^\* Breach \d+ \(/gm)).toHaveLength(75);
    expect(html.match(/<li /g)).toHaveLength(75);
  });

  test("of a completed scan tells its counts, of a failed one its error", () => {
    expect(render(scanComplete).text).toContain(
      "Checked 99,995 of 100,000 monitored e-mail addresses. New breaches found: 3. Addresses that could not be checked: 5.",
    );
    expect(render(scanError).text).toContain("could not be scanned & <will> be retried");
    expect(render(scanError).html).toContain("could not be scanned &amp; &lt;will&gt; be retried");
  });
});

describe("text from elsewhere", () => {
  const plain = render(breachEvent({ title: "a", domain: "a", dataClasses: ["a"] }), "a");

  const check = (title: string, domain: string, dataClass: string, name: string) => {
    const { subject, text, html } = render(breachEvent({ title, domain, dataClasses: [dataClass] }), name);
    expect(subject).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}]{1,200}$/u);
    // The same lines and the same elements as with harmless text.
    expect(text.split("\n").length).toBe(plain.text.split("\n").length);
    expect(tagsOf(html)).toEqual(tagsOf(plain.html));
    for (const part of [subject, text, html]) {
      expect(part.isWellFormed()).toBe(true);
      expect(part).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
      expect(part.length).toBeLessThan(20_000);
    }
  };

  test.each(hostileTexts.map((text) => [JSON.stringify(text.slice(0, 40)), text]))(
    "is shown as text: %s",
    (_name, text) => check(text, text, text, text),
  );

  test("is shown as text, whatever it is", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 400 }),
      fc.string({ unit: fc.constantFrom("<", ">", "&", '"', "'", "/", "\r", "\n", "a", "=", "\ud83d") }),
      fc.constantFrom(...hostileTexts),
    );
    fc.assert(fc.property(text, text, text, text, check));
  });
});

describe("sending", () => {
  const notice = noticeOf(breachEvent({}), { organizationName: "Acme" });
  let answer: RequestListener;
  let received: { url: string | undefined; body: Record<string, never> }[];
  let close: () => Promise<void>;
  let connections: Set<unknown>;

  beforeEach(async () => {
    received = [];
    answer = (_request, response) => response.end(JSON.stringify({ MessageId: "1" }));
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      received.push({ url: request.url, body: JSON.parse(body) });
      response.setHeader("content-type", "application/json");
      answer(request, response);
    });
    const listening = await listenOnLoopback(server);
    ({ close, connections } = listening);
    vi.stubEnv("AWS_ENDPOINT_URL_SESV2", `http://127.0.0.1:${listening.port}`);
    vi.stubEnv("AWS_REGION", "us-east-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
    vi.stubEnv("SENDER_EMAIL", "alerts@acme.example");
    // The module keeps its client: each test needs one that knows this server.
    vi.resetModules();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await close();
  });

  const sendAfresh = async (recipients: string[]) =>
    (await import("../../shared/alerts/mail.ts")).send(recipients, 41, notice);
  const refuse =
    (name: string): RequestListener =>
    (_request, response) =>
      response
        .writeHead(400, { "x-amzn-errortype": name })
        .end(JSON.stringify({ message: "s3cret@acme.example is not verified" }));

  test("without a sender fails, and says why", async () => {
    for (const sender of [undefined, ""]) {
      vi.stubEnv("SENDER_EMAIL", sender);
      expect(await send(["ada@acme.example"], 41, notice)).toEqual({
        failure: "e-mail sending is not set up",
      });
    }
    expect(received).toEqual([]);
  });

  test("to one recipient names it, and tells who sends and for which delivery", async () => {
    expect(await sendAfresh(["ada@acme.example", "ada@acme.example"])).toEqual({ status: 200 });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      url: "/v2/email/outbound-emails",
      body: {
        FromEmailAddress: "Breach Monitor <alerts@acme.example>",
        Destination: { ToAddresses: ["ada@acme.example"] },
        Content: {
          Simple: {
            Headers: [
              { Name: "Auto-Submitted", Value: "auto-generated" },
              { Name: "X-Delivery-Id", Value: "41" },
            ],
          },
        },
      },
    });
  });

  test("to several is one request that discloses none of them to another", async () => {
    const recipients = Array.from({ length: 20 }, (_, index) => `p${index}@acme.example`);
    expect(await sendAfresh(recipients)).toEqual({ status: 200 });
    expect(received).toHaveLength(1);
    expect(received[0]?.body.Destination).toEqual({ BccAddresses: recipients });
  });

  test.each([
    ["MessageRejected", "message rejected: sender or recipient not verified, or content refused"],
    ["MailFromDomainNotVerifiedException", "sender is not verified"],
    ["AccessDeniedException", "not permitted to send from the sender's address"],
    ["SomethingNew", "e-mail service failed"],
  ])("that SES refuses with %s fails once, with a reason without addresses", async (name, failure) => {
    answer = refuse(name);
    expect(await sendAfresh(["ada@acme.example"])).toEqual({ failure });
    expect(received).toHaveLength(1);
  });

  test.each(["TooManyRequestsException", "LimitExceededException"])(
    "that is too much for SES at once (%s) may come back later",
    async (name) => {
      answer = refuse(name);
      const outcome = { failure: "limit of e-mail sending reached", comeBackSeconds: 0 };
      expect(await sendAfresh(["ada@acme.example"])).toEqual(outcome);
      expect(received).toHaveLength(1);
    },
  );

  test("is not repeated within an attempt when the service fails", async () => {
    answer = (_request, response) => response.writeHead(500).end("{}");
    expect(await sendAfresh(["ada@acme.example"])).toEqual({ failure: "e-mail service failed" });
    expect(received).toHaveLength(1);
  });

  test("fails when nobody listens", async () => {
    await close();
    expect(await sendAfresh(["ada@acme.example"])).toEqual({ failure: "e-mail service failed" });
  });

  test("has 10 seconds, and then ends with its connection", async () => {
    answer = () => undefined;
    const { timeout } = AbortSignal;
    const timer = vi.spyOn(AbortSignal, "timeout").mockImplementation((time) => timeout(time / 50));
    expect(await sendAfresh(["ada@acme.example"])).toEqual({ failure: "timeout" });
    expect(timer.mock.calls).toEqual([[10_000]]);
    timer.mockRestore();
    await expect.poll(() => connections.size).toBe(0);
  });
});

const tagsOf = (html: string): string[] => html.match(/<[^>]*>/g) ?? [];

/** The texts between the tags, as a browser shows them. */
const shownText = (html: string): string[] =>
  html
    .split(/<[^>]*>/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
