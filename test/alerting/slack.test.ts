import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { messageOf, type SlackMessage } from "../../shared/alerting/kinds/slack/message.ts";
import type { Content } from "../../shared/alerting/messages/content.ts";
import type { Summary, SummaryBreach } from "../../shared/alerting/messages/summary.ts";
import { noticeOf } from "../../shared/alerting/messages/told.ts";
import { anyCharacter } from "../any-character.ts";
import {
  ada,
  breachReport,
  breachWith,
  dashboardUrl,
  hostileTexts,
  problem,
  scanComplete,
  scanErrorOf,
} from "./notice.ts";
import { slackFaults } from "./slack-rules.ts";

const render = (content: Content, organizationName = "Acme"): SlackMessage =>
  messageOf(noticeOf(content, { organizationName, dashboardUrl }));

const blocksIn = ({ blocks, attachments }: SlackMessage): SlackMessage["blocks"] => [
  ...blocks,
  ...attachments.flatMap((each) => each.blocks),
];

const textsIn = (message: SlackMessage, type: "mrkdwn" | "plain_text"): string[] =>
  blocksIn(message)
    .flatMap((block) => {
      if (block.type === "actions") return [];
      return block.type === "context" ? block.elements : [block.text];
    })
    .filter((text) => text.type === type)
    .map(({ text }) => text);
const markdownIn = (message: SlackMessage): string[] => textsIn(message, "mrkdwn");

const buttonsIn = (message: SlackMessage): [string, string][] =>
  blocksIn(message).flatMap((block) =>
    block.type === "actions" ? block.elements.map(({ text, url }): [string, string] => [text.text, url]) : [],
  );
const plainTextIn = (message: SlackMessage): string[] => textsIn(message, "plain_text");

const breach: SummaryBreach = {
  ...breachWith({ title: "PayrollPro", dataClasses: [] }),
  stealerLogDomains: [],
  people: 212,
  named: [],
};

const renderSummary = (
  summary: Pick<Summary, "breaches" | "discreetPeople">,
  organizationName = "Acme",
): SlackMessage => {
  const [worst] = summary.breaches;
  const inAll = { worst, more: summary.breaches.length - 1, findings: 212, people: 212 };
  return messageOf(
    noticeOf(
      { kind: "findings", persons: [], people: 212, inAll, scanId: 12, ...summary },
      { organizationName, dashboardUrl },
    ),
  );
};

const links =
  "<https://haveibeenpwned.com|Have I Been Pwned>, <https://creativecommons.org/licenses/by/4.0/|CC BY 4.0>";
const findingsUrl = `${dashboardUrl}/findings?emailId=7`;

describe("a Slack message", () => {
  test.each([
    [10, 0, 10, 0],
    [11, 0, 9, 2],
    [9, 3, 9, 0],
    [10, 3, 8, 2],
    [80, 3, 8, 72],
  ])(
    "of %i breaches and %i people in sensitive ones counts the rest",
    (count, discreetPeople, shown, more) => {
      const breaches = Array.from({ length: count }, (_, index) => ({ ...breach, title: `Breach ${index}` }));
      const message = renderSummary({ breaches, discreetPeople });
      const texts = markdownIn(message);
      expect(texts.filter((text) => text.startsWith("*Breach "))).toHaveLength(shown);
      expect(texts.filter((text) => text.includes(" more"))).toEqual(
        more === 0 ? [] : [expect.stringMatching(`and ${more} more breaches`)],
      );
      expect(texts.some((text) => text.includes("A sensitive breach: 3 people"))).toBe(discreetPeople > 0);
      expect(slackFaults(message)).toEqual([]);
    },
  );

  test("of a breach says who, what and when, and links to the findings", () => {
    const report = breachReport([
      { title: "Adobe", domain: "adobe.com" },
      { domain: "", dataClasses: [], breachDate: "1970-01-01" },
    ]);
    const message = render(report);
    expect(message.text).toBe("High: Adobe and 1 more, passwords of 1 person at Acme");
    expect(message.attachments.map(({ color }) => color)).toEqual(["#d9480f"]);
    expect(message.blocks[0]).toMatchObject({
      type: "header",
      text: { type: "plain_text", text: "High: ada@acme.example appeared in 2 data breaches" },
    });
    expect(blocksIn(message)[2]).toEqual({
      type: "section",
      text: {
        type: "plain_text",
        text: "Address: ada@acme.example\nOwner: Ada Lovelace\nTeam: Engines",
        emoji: false,
      },
    });
    expect(markdownIn(message)).toEqual([
      "This monitored e-mail address was found in 2 data breaches that were not known before.",
      "*Adobe (adobe.com) · high*\nDate of the breach: 2013-10-04\nExposed: Passwords, Email " +
        `addresses\n<${findingsUrl}&amp;finding=101|Open the finding>`,
      `*Breach 2 · high*\nIt is not known what was exposed.\n<${findingsUrl}&amp;finding=102|Open the finding>`,
      "Change the password there, and wherever it was used again, the account at work first.\n" +
        "Acknowledge each finding once it is handled.",
      `Acme · Breach data: ${links}`,
    ]);
    expect(buttonsIn(message)).toEqual([["See the findings of this address", findingsUrl]]);
    expect(slackFaults(message)).toEqual([]);
  });

  test("begins with the worst breach, and shows its severity in color", () => {
    const message = render(breachReport([{ severity: "critical" }, { severity: "low" }]));
    expect(message.text).toBe("Critical: Breach 1 and 1 more, passwords of 1 person at Acme");
    expect(message.attachments[0]?.color).toBe("#b3001b");
    expect(markdownIn(message)[1]).toMatch(/^\*Breach 1 \(breach-1\.example\) · critical\*\n/);
    expect(render(breachReport([{}])).text).toBe("High: Breach 1, passwords of 1 person at Acme");
    expect(render(scanComplete).attachments[0]?.color).toBe("#1d4ed8");
  });

  test("shows an address exactly that has formatting characters", () => {
    const address = "*o_neil*~`&co`@acme.example";
    const shown = "*o_neil*~`&amp;co`@acme.example";
    const message = render(breachReport([{}], { ...ada, address }));
    expect(plainTextIn(message)).toEqual([
      `High: ${shown} appeared in a data breach`,
      `Address: ${shown}\nOwner: Ada Lovelace\nTeam: Engines`,
    ]);
  });

  test("of 75 breaches shows ten and the number of the others", () => {
    const many = (length: number) => render(breachReport(Array.from({ length }, () => ({}))));
    const message = many(75);
    const sections = markdownIn(message).filter((text) => text.startsWith("*Breach"));
    expect(sections).toHaveLength(10);
    expect(markdownIn(message)).toContain("… and 65 more.");
    expect(markdownIn(many(10)).join()).not.toContain("more.");
    expect(slackFaults(message)).toEqual([]);
  });

  test("of 80 breaches with very long names is within Slack's limits", () => {
    for (const character of ["x", "&", "<", "@channel ", "\u202e👍"]) {
      const text = character.repeat(1_100);
      const ofPerson = render(breachReport(Array(80).fill({ title: text, domain: text })), text);
      expect(JSON.stringify(ofPerson).length).toBeLessThan(20_000);
      const named: string[] = Array(10).fill(`${"&".repeat(64)}@${"a".repeat(180)}.example`);
      const said = { dataClasses: [text, text], stealerLogDomains: Array(50).fill(text), named };
      const worst = { ...breach, title: text, domain: text, severity: "critical" as const, ...said };
      const ofPeople = renderSummary({ breaches: Array(80).fill(worst), discreetPeople: 3 }, text);
      for (const message of [ofPerson, ofPeople]) expect(slackFaults(message)).toEqual([]);
    }
  });

  test("of a breach has ten addresses, a count of the rest, and the data", () => {
    const named = Array.from(
      { length: 10 },
      (_, index) => `${index}${"a".repeat(63)}@${"b".repeat(60)}.example`,
    );
    const breaches = [{ ...breach, named, dataClasses: ["Passwords"] }];
    const [, text] = markdownIn(renderSummary({ breaches, discreetPeople: 0 }));
    expect(text).toBe(
      `*PayrollPro · high · 212 people*\n${named.join(", ")}, and 202 more\nExposed: Passwords`,
    );
  });

  test("of a scan escapes the problem, and leads to the scans", () => {
    const message = render(scanErrorOf(problem, 3));
    expect(markdownIn(message)[0]).toBe(
      "5 e-mail addresses could not be scanned &amp; &lt;will&gt; be retried on the next scan",
    );
    expect(slackFaults(message)).toEqual([]);
    expect(buttonsIn(message)).toEqual([["See the scans", `${dashboardUrl}/scans`]]);
  });
});

describe("foreign text", () => {
  const ownLinks = /<https:\/\/monitor\.acme\.example\/api\/app\/[a-z]+(\?[a-zA-Z0-9=&;]+)?\|[A-Za-z ]+>/g;

  /** Texts with markup other than the product's own: bold titles and links. */
  const foreignMarkup = (message: SlackMessage): string[] => [
    ...[message.text, ...markdownIn(message)]
      .map((text) =>
        text
          .replace(links, "")
          .replace(ownLinks, "")
          .replace(/^\*([^*]*)\*\n/, "$1"),
      )
      .filter((text) => /[<>*_~`]|&(?!amp;|lt;|gt;)/.test(text)),
    ...plainTextIn(message).filter((text) => /[<>]|&(?!amp;|lt;|gt;)/.test(text)),
  ];

  const check = (title: string, domain: string, dataClass: string, name: string) => {
    const email = { ...ada, address: `${name}@acme.example`, ownerName: name, teamName: name };
    const report = breachReport([{ title, domain, dataClasses: [dataClass, dataClass] }], email);
    for (const message of [render(report, name), render(scanErrorOf(title), name)]) {
      expect(slackFaults(message)).toEqual([]);
      expect(foreignMarkup(message)).toEqual([]);
      expect(JSON.stringify(message)).not.toMatch(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
    }
    const [, facts = ""] = plainTextIn(render(report));
    expect(facts).toMatch(/^Address: .*(\nOwner: .*\nTeam: .*)?$/u);
  };

  test.each(hostileTexts.map((text) => [JSON.stringify(text.slice(0, 40)), text]))(
    "is shown as text: %s",
    (_name, text) => check(text, text, text, text),
  );

  test("is shown as text, whatever it is", () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 400 }),
      fc.string({ unit: fc.constantFrom("<", ">", "&", "*", "_", "`", "!", "|", "@", "\n", "a", "\ud83d") }),
      fc.constantFrom(...hostileTexts),
    );
    fc.assert(fc.property(text, text, text, text, check));
  });

  test("mentions nobody, also in systems that read mentions in plain text", () => {
    const email = { ...ada, address: "ada@all.example", ownerName: "@everyone" };
    const message = render(breachReport([{ title: "@channel (@Here) @all", domain: "" }], email), "@here");
    expect(JSON.stringify(message)).not.toMatch(/(?<!ada)@(all|channel|everyone|here)/i);
    expect(plainTextIn(message)[1]).toContain("Address: ada@all.example\nOwner: ＠everyone");
  });

  test("is unchanged where Slack can show it", () => {
    const [, section] = markdownIn(
      render(breachReport([{ title: "R&D <beta> Müller 日本 👍", domain: "" }])),
    );
    expect(section?.split("\n")[0]).toBe("*R&amp;D &lt;beta&gt; Müller 日本 👍 · high*");
  });
});
