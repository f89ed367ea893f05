import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { noticeOf } from "../../shared/alerts/notice.ts";
import { messageOf, type SlackMessage } from "../../shared/alerts/slack.ts";
import { breachEvent, hostileTexts, scanComplete, scanError } from "./notice.ts";
import { slackFaults } from "./slack-rules.ts";

const render = (event: Parameters<typeof noticeOf>[0], organizationName = "Acme"): SlackMessage =>
  messageOf(noticeOf(event, { organizationName }));

const markdownIn = ({ blocks }: SlackMessage): string[] =>
  blocks.flatMap((block) => {
    if (block.type === "context") return block.elements.map(({ text }) => text);
    return block.type === "section" ? [block.text.text] : [];
  });

const links =
  "<https://haveibeenpwned.com|Have I Been Pwned>, <https://creativecommons.org/licenses/by/4.0/|CC BY 4.0>";

describe("a Slack message", () => {
  test("of a breach event has a header, a section for each breach, what to do and the attribution", () => {
    const event = breachEvent({ title: "Adobe", domain: "adobe.com" }, { domain: "", dataClasses: [] });
    const message = render(event);
    expect(message.text).toBe("An e-mail address appeared in 2 data breaches (Acme)");
    expect(message.blocks[0]).toMatchObject({
      type: "header",
      text: { type: "plain_text", text: "An e-mail address appeared in 2 data breaches" },
    });
    expect(markdownIn(message)).toEqual([
      "A monitored e-mail address was found in 2 data breaches that were not known before.",
      "*Adobe (adobe.com)*\nExposed: Email addresses, Passwords",
      "*Breach 2*\nIt is not known what was exposed.",
      "Your findings name the address. Acknowledge each finding once it is handled.",
      `Acme · Breach data: ${links}`,
    ]);
    expect(slackFaults(message)).toEqual([]);
  });

  test("of one breach says so in the singular", () => {
    expect(render(breachEvent({})).text).toBe("An e-mail address appeared in a data breach (Acme)");
  });

  test("of 75 breaches shows ten and counts the others", () => {
    const message = render(breachEvent(...Array.from({ length: 75 }, () => ({}))));
    const sections = markdownIn(message).filter((text) => text.startsWith("*Breach"));
    expect(sections).toHaveLength(10);
    expect(markdownIn(message)).toContain("… and 65 more.");
    expect(markdownIn(render(breachEvent(...Array.from({ length: 10 }, () => ({})))))).not.toContain("more.");
    expect(slackFaults(message)).toEqual([]);
  });

  test("of a completed scan tells its counts, of a failed one its error", () => {
    expect(markdownIn(render(scanComplete))[0]).toBe(
      "Checked 99,995 of 100,000 monitored e-mail addresses. New breaches found: 3. Addresses that could not be checked: 5.",
    );
    expect(markdownIn(render(scanError))[0]).toBe(
      "5 e-mail addresses could not be scanned &amp; &lt;will&gt; be retried on the next scan",
    );
    for (const message of [render(scanComplete), render(scanError)]) {
      expect(slackFaults(message)).toEqual([]);
      expect(markdownIn(message).at(-1)).toContain(links);
    }
  });
});

describe("text from elsewhere", () => {
  /** The only markup that a message may have is ours: the bold titles and the two links. */
  const foreignMarkup = (message: SlackMessage): string[] =>
    [message.text, ...markdownIn(message)]
      .map((text) => text.replace(links, "").replace(/^\*([^*]*)\*\n/, "$1"))
      .filter((text) => /[<>*_~`]|&(?!amp;|lt;|gt;)/.test(text));

  test.each(hostileTexts.map((text) => [JSON.stringify(text.slice(0, 40)), text]))(
    "is shown as text: %s",
    (_name, text) => {
      const event = breachEvent({ title: text, domain: text, dataClasses: [text, text] });
      for (const message of [
        render(event, text),
        render({ type: "scan_error", data: { error: text } }, text),
      ]) {
        expect(slackFaults(message)).toEqual([]);
        expect(foreignMarkup(message)).toEqual([]);
      }
    },
  );

  test("is shown as text, whatever it is", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 400 }),
      fc.string({ unit: fc.constantFrom("<", ">", "&", "*", "_", "`", "!", "|", "@", "\n", "a", "\ud83d") }),
      fc.constantFrom(...hostileTexts),
    );
    fc.assert(
      fc.property(text, text, text, text, (title, domain, dataClass, name) => {
        const message = render(breachEvent({ title, domain, dataClasses: [dataClass] }), name);
        expect(slackFaults(message)).toEqual([]);
        expect(foreignMarkup(message)).toEqual([]);
      }),
    );
  });

  test("reads as it was written where Slack can show it", () => {
    const [, section] = markdownIn(render(breachEvent({ title: "R&D <beta> Müller 日本 👍", domain: "" })));
    expect(section?.split("\n")[0]).toBe("*R&amp;D &lt;beta&gt; Müller 日本 👍*");
  });
});
