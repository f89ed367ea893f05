/** What docs/integrations.md says of other systems, tried against the forms that their makers publish. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { messageOf as mailOf } from "../../shared/alerting/kinds/email/mail.ts";
import type { Notice } from "../../shared/alerting/kinds/notice.ts";
import { messageOf } from "../../shared/alerting/kinds/slack/message.ts";
import { envelope } from "../../shared/alerting/kinds/webhook/envelope.ts";
import type { Content } from "../../shared/alerting/messages/content.ts";
import { eventOf, noticeOf } from "../../shared/alerting/messages/told.ts";
import {
  breachReport,
  breachWith,
  dashboardUrl,
  eventReport,
  hostileTexts,
  problem,
  scanComplete,
  scanErrorOf,
} from "../alerting/notice.ts";
import { project } from "./markdown.ts";

const page = readFileSync(join(project, "docs/integrations.md"), "utf8");

const context = { organizationName: "Acme", dashboardUrl };

/** The fields of `given` that are not among these, a text of names with spaces between them. */
const unknown = (given: object, fields: string): string[] =>
  Object.keys(given).filter((name) => !fields.split(" ").includes(name));

describe("the code for PagerDuty", () => {
  const [, code = ""] = /```js\n(.*?)\n```/s.exec(page) ?? [];

  /** What the code emits for a webhook's body, given what PagerDuty's guide says that a transformer is given. */
  const emitted = (content: Content): unknown[] => {
    const events: unknown[] = [];
    const PD = {
      inputRequest: {
        body: JSON.parse(envelope({ ...eventOf(content, dashboardUrl), id: 41, at: new Date(0) })),
      },
      Trigger: "trigger",
      emitGenericEvents: (some: unknown[]) => events.push(...some),
    };
    runInNewContext(code, { PD });
    return JSON.parse(JSON.stringify(events));
  };

  test("makes incidents of breaches and errors, not of scan ends", () => {
    const incident = { event_type: "trigger", incident_key: "breach-monitor-41" };
    expect(emitted(eventReport([{ title: "Adobe" }, { title: "Shop" }]))).toMatchObject([
      { ...incident, description: "A monitored address is in a data breach: Adobe, Shop" },
    ]);
    expect(emitted(scanErrorOf(problem))).toMatchObject([
      { ...incident, description: expect.stringMatching(/^5 e-mail addresses/), details: { id: 41 } },
    ]);
    expect(emitted(scanComplete)).toEqual([]);
  });

  test("cuts descriptions to 1,024 characters, however long", () => {
    for (const title of hostileTexts) {
      const [{ description }] = emitted(eventReport(Array(75).fill({ title }))) as [{ description: string }];
      expect(description.length).toBeGreaterThan(0);
      expect(description.length).toBeLessThanOrEqual(1_024);
    }
  });

  test("emits events of the form that PagerDuty publishes", () => {
    // github.com/PagerDuty/api-schema, reference/events-v1: what may be in an event, less the service's key
    const fields = "event_type incident_key description details client client_url contexts";
    for (const content of [eventReport([{}]), scanErrorOf(problem)]) {
      for (const each of emitted(content) as Record<string, unknown>[]) {
        expect(unknown(each, fields)).toEqual([]);
        expect(["trigger", "acknowledge", "resolve"]).toContain(each.event_type);
        expect([typeof each.incident_key, typeof each.description, typeof each.details]).toEqual([
          "string",
          "string",
          "object",
        ]);
      }
    }
  });

  test("is in ES5, which its transformers run", () => {
    expect(code).not.toMatch(/=>|`|\b(?:const|let|class|async)\b|\.\.\./);
  });
});

describe("in other chats", () => {
  const report = breachReport([{ title: "@channel Adobe" }]);
  const message = JSON.parse(JSON.stringify(messageOf(noticeOf(report, context)))) as Record<
    string,
    unknown
  > & { text: string; attachments: Record<string, unknown>[] };
  test("Mattermost shows its line, and a color at most", () => {
    // github.com/mattermost/mattermost, server/public/model: IncomingWebhookRequest and SlackAttachment
    expect(
      unknown(message, "text username icon_url channel props attachments type icon_emoji priority"),
    ).toEqual(["blocks", "unfurl_links", "unfurl_media"]);
    const shown =
      "fallback pretext author_name author_link author_icon title title_link text fields " +
      "image_url thumb_url footer footer_icon ts actions";
    for (const attachment of message.attachments)
      expect(unknown(attachment, shown)).toEqual(Object.keys(attachment));
    expect(message.text).toBe("High: ＠channel Adobe, passwords of 1 person at Acme");
  });

  test("Google Chat refuses it for fields that its messages have not", () => {
    // developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages
    const fields =
      "name sender createTime lastUpdateTime deleteTime text formattedText cards cardsV2 " +
      "annotations thread space fallbackText actionResponse argumentText slashCommand attachment " +
      "matchedUrl threadReply silent clientAssignedMessageId emojiReactionSummaries " +
      "privateMessageViewer deletionMetadata quotedMessageMetadata attachedGifs accessoryWidgets";
    expect(unknown(message, fields)).toEqual(["blocks", "attachments", "unfurl_links", "unfurl_media"]);
  });

  test("Discord takes its line, and knows no blocks", () => {
    // github.com/discord/discord-api-spec, specs/openapi.json: SlackWebhook and WebhookSlackEmbed
    expect(unknown(message, "text username icon_url attachments")).toEqual([
      "blocks",
      "unfurl_links",
      "unfurl_media",
    ]);
    const shown =
      "title title_link text color ts pretext footer footer_icon author_name author_link " +
      "author_icon image_url thumb_url fields";
    for (const attachment of message.attachments) {
      expect(unknown(attachment, shown)).toEqual(["blocks"]);
      expect(attachment.color).toMatch(/^#(([0-9a-fA-F]{2}){3}|([0-9a-fA-F]){3})$/);
    }
  });

  test("a line is within Discord's 2,000 characters, whatever the title", () => {
    for (const title of hostileTexts)
      expect(
        messageOf(noticeOf(breachReport([{ title }]), { ...context, organizationName: title })).text.length,
      ).toBeLessThan(2_000);
  });
});

describe("a mail elsewhere", () => {
  // github.com/MicrosoftDocs/OfficeDocs-SkypeForBusiness, Teams/limits-specifications-teams.md: Emailing a channel
  const maximumOfTeams = 24 * 1024;
  const bytesOf = (notice: Notice): number => Buffer.byteLength(mailOf(notice).html);
  const dataClasses =
    "Email addresses, Passwords, Names, Phone numbers, Physical addresses, IP addresses".split(", ");

  test("fits into a post of Teams with 40 breaches, not with 50", () => {
    const ofPerson = (breaches: number) =>
      noticeOf(breachReport(Array(breaches).fill({ dataClasses })), context);
    expect(bytesOf(ofPerson(40))).toBeLessThan(maximumOfTeams);
    expect(bytesOf(ofPerson(50))).toBeGreaterThan(maximumOfTeams);
  });

  test("fits as a summary of many people with long titles and websites", () => {
    const summaryOf = (title: string, websites: readonly string[] = []) => {
      const breaches = Array.from({ length: 80 }, (_, index) => ({
        ...breachWith({ title, dataClasses }, index + 1),
        stealerLogDomains: [...websites],
        people: 212,
        named: Array.from({ length: 10 }, (_, person) => `first.lastname-${person}@acme.example`),
      }));
      const inAll = { worst: breaches[0], more: 79, findings: 9_000, people: 1_090 };
      return noticeOf(
        { kind: "findings", breaches, persons: [], discreetPeople: 0, people: 1_090, inAll, scanId: 7 },
        context,
      );
    };
    expect(bytesOf(summaryOf("Example Payroll (invented)"))).toBeLessThan(maximumOfTeams / 2);
    const websites = Array.from({ length: 50 }, (_, index) => `a-website-with-a-long-name-${index}.example`);
    expect(bytesOf(summaryOf("A very long title ".repeat(60), websites))).toBeLessThan(maximumOfTeams);
  });

  test("has a subject of at most 200 characters, whatever the titles", () => {
    for (const title of hostileTexts) {
      const { subject } = mailOf(
        noticeOf(breachReport([{ title }]), { ...context, organizationName: title }),
      );
      expect([...subject].length).toBeLessThanOrEqual(200);
    }
  });
});
