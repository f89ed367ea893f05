/** What docs/integrations.md says of other systems, tried against the forms that their makers publish. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { type Event, envelope } from "../../shared/alerting/senders/envelope.ts";
import { noticeOf } from "../../shared/alerting/senders/notice.ts";
import { messageOf } from "../../shared/alerting/senders/slack.ts";
import { breachReport, hostileTexts, scanComplete, scanError } from "../alerting/notice.ts";
import { project } from "./markdown.ts";

const page = readFileSync(join(project, "docs/integrations.md"), "utf8");

describe("the code for PagerDuty", () => {
  const [, code = ""] = /```js\n(.*?)\n```/s.exec(page) ?? [];

  /** What the code emits for a webhook's body, given what PagerDuty's guide says that a transformer is given. */
  const emitted = (event: Event): unknown[] => {
    const events: unknown[] = [];
    const PD = {
      inputRequest: { body: JSON.parse(envelope({ ...event, id: 41, at: new Date(0) })) },
      Trigger: "trigger",
      emitGenericEvents: (some: unknown[]) => events.push(...some),
    };
    runInNewContext(code, { PD });
    return JSON.parse(JSON.stringify(events));
  };

  test("makes an incident of breach events and scan errors, none of completed scans", () => {
    const incident = { event_type: "trigger", incident_key: "breach-monitor-41" };
    expect(emitted(breachReport([{ title: "Adobe" }, { title: "Shop" }]).event)).toMatchObject([
      { ...incident, description: "A monitored address is in a data breach: Adobe, Shop" },
    ]);
    expect(emitted(scanError.event)).toMatchObject([
      { ...incident, description: expect.stringMatching(/^5 e-mail addresses/), details: { id: 41 } },
    ]);
    expect(emitted(scanComplete.event)).toEqual([]);
  });

  test("keeps to the 1,024 characters of a description, whatever the titles are", () => {
    for (const title of hostileTexts) {
      const [{ description }] = emitted(breachReport(Array(75).fill({ title })).event) as [
        { description: string },
      ];
      expect(description.length).toBeGreaterThan(0);
      expect(description.length).toBeLessThanOrEqual(1_024);
    }
  });

  test("is in ES5, which its transformers run", () => {
    expect(code).not.toMatch(/=>|`|\b(?:const|let|class|async)\b|\.\.\./);
  });
});

describe("a Slack message in other chats", () => {
  const report = breachReport([{ title: "@channel Adobe" }]);
  const message = JSON.parse(
    JSON.stringify(
      messageOf(noticeOf(report, { organizationName: "Acme", dashboardUrl: "https://acme.example" })),
    ),
  ) as Record<string, unknown> & { text: string; attachments: Record<string, unknown>[] };
  const unknown = (given: object, fields: string): string[] =>
    Object.keys(given).filter((name) => !fields.split(" ").includes(name));

  test("Mattermost shows its line, and a color at most", () => {
    // github.com/mattermost/mattermost, server/public/model: IncomingWebhookRequest and SlackAttachment
    expect(
      unknown(message, "text username icon_url channel props attachments type icon_emoji priority"),
    ).toEqual(["blocks", "unfurl_links", "unfurl_media"]);
    const shown =
      "fallback pretext author_name author_link author_icon title title_link text fields image_url thumb_url footer footer_icon ts actions";
    for (const attachment of message.attachments)
      expect(unknown(attachment, shown)).toEqual(Object.keys(attachment));
    expect(message.text).toBe("High: ＠channel Adobe, passwords of 1 person at Acme");
  });

  test("Google Chat refuses it for fields that its messages have not", () => {
    // developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages
    const fields =
      "name sender createTime lastUpdateTime deleteTime text formattedText cards cardsV2 annotations thread space fallbackText actionResponse argumentText slashCommand attachment matchedUrl threadReply silent clientAssignedMessageId emojiReactionSummaries privateMessageViewer deletionMetadata quotedMessageMetadata attachedGifs accessoryWidgets";
    expect(unknown(message, fields)).toEqual(["blocks", "attachments", "unfurl_links", "unfurl_media"]);
  });

  test("Discord has room for its line", () => {
    // discord.com/developers/docs/resources/webhook: content has at most 2,000 characters.
    for (const title of hostileTexts)
      expect(
        messageOf(noticeOf(breachReport([{ title }]), { organizationName: title })).text.length,
      ).toBeLessThan(2_000);
  });
});
