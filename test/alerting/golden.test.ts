/**
 * What each kind of message says, in each form. Whoever changes words looks at the files of golden/, which
 * `npm test -- test/alerting/golden -u` writes.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Channel } from "../../shared/alerting/channels/channel.ts";
import type { Grouping } from "../../shared/alerting/channels/channel-schema.ts";
import { messageOf as mailOf } from "../../shared/alerting/kinds/email/mail.ts";
import { messageOf as slackOf } from "../../shared/alerting/kinds/slack/message.ts";
import type { Content } from "../../shared/alerting/messages/content.ts";
import { exampleFor } from "../../shared/alerting/messages/example.ts";
import { noBreaches, type Summary, type SummaryBreach } from "../../shared/alerting/messages/summary.ts";
import { noticeOf } from "../../shared/alerting/messages/told.ts";
import { ada, breachReport, breachWith, dashboardUrl, problem, scanComplete, scanErrorOf } from "./notice.ts";

const payroll = breachWith({ title: "PayrollPro", dataClasses: ["Passwords", "Bank account numbers"] }, 1);
const forum = breachWith({ title: "Old Forum", dataClasses: ["Usernames"], severity: "low" }, 2);

const groupOf = (breach: typeof payroll, people: number): SummaryBreach => ({
  ...breach,
  people,
  named: Array.from({ length: Math.min(10, people) }, (_, index) => `person-${index}@acme.example`),
  stealerLogDomains: [],
});

const many: Summary = {
  kind: "findings",
  breaches: [groupOf(payroll, 212), groupOf(forum, 3)],
  persons: [],
  discreetPeople: 0,
  people: 213,
  inAll: { worst: payroll, more: 1, findings: 215, people: 213 },
  scanId: 12,
};

const grace = { id: 8, address: "grace@acme.example", ownerName: null, teamName: null };
const few: Summary = {
  ...many,
  breaches: [groupOf(payroll, 2), groupOf(forum, 1)],
  persons: [breachReport([payroll, forum]), breachReport([payroll], grace)],
  people: 2,
  inAll: { worst: payroll, more: 1, findings: 3, people: 2 },
};

const stealer = breachWith(
  { title: "Stealer Logs, Nov 2026", dataClasses: ["Passwords"], severity: "critical", isStealerLog: true },
  3,
);
const unwatched = {
  kind: "unwatched" as const,
  isAtMost: false,
  breaches: [],
  sensitive: 0,
  scanId: 12,
};

const channelOf = (grouping: Grouping) => ({ channel: "email", grouping }) as Channel;

const kinds: Record<string, Content> = {
  person: breachReport([payroll, forum]),
  "person-removed": breachReport([payroll], null),
  people: few,
  "many-people": { ...many, unwatched: { count: 9, isAtMost: false, breachId: undefined } },
  "first-of-two": { ...many, stage: "first" },
  "last-of-two": {
    ...few,
    stage: "last",
    inAll: { worst: payroll, more: 1, findings: 215, people: 213 },
  },
  "first-scan": {
    ...many,
    kind: "baseline",
    bySeverity: { critical: 0, high: 212, medium: 0, low: 3 },
    scannedCount: 1_401,
    unwatched: { count: 1_204, isAtMost: false, breachId: undefined },
  },
  "person-and-unwatched": {
    ...breachReport([payroll]),
    unwatched: { count: 1, isAtMost: false, breachId: payroll.id },
  },
  unwatched: {
    ...unwatched,
    severity: "critical",
    count: 1,
    others: 0,
    breaches: [{ ...stealer, addresses: 1 }],
  },
  "unwatched-many": {
    ...unwatched,
    severity: "critical",
    count: 12,
    others: 40,
    breaches: [
      { ...stealer, addresses: 4 },
      { ...payroll, addresses: 9 },
    ],
  },
  "unwatched-sensitive": {
    ...unwatched,
    severity: "high",
    count: 3,
    others: 0,
    isAtMost: true,
    sensitive: 1,
    scanId: undefined,
  },
  sensitive: { ...noBreaches, kind: "findings", discreetPeople: 2, scanId: undefined },
  "sensitive-and-others": {
    ...many,
    breaches: many.breaches.map((each) => ({ ...each, named: [] })),
    discreetPeople: 2,
    scanId: undefined,
  },
  risen: {
    kind: "risen",
    breaches: [{ ...payroll, people: 12, named: [], stealerLogDomains: [] }],
    persons: [],
    discreetPeople: 0,
    people: 12,
    inAll: { worst: payroll, more: 0, findings: 12, people: 12 },
    reopened: 2,
    scanId: undefined,
  },
  "test-address": exampleFor(channelOf("address")),
  "test-scan": exampleFor(channelOf("scan")),
  owner: { kind: "owner", address: ada.address, breaches: breachReport([payroll]).breaches },
  "scan-complete": scanComplete,
  "scan-error": scanErrorOf(problem, 12),
  problem: scanErrorOf(
    "Alerts do not reach the Slack alert channel 4: HTTP 404. Check its settings, then send it a test.",
  ),
};

const golden = (file: string): string => join(import.meta.dirname, "golden", file);

describe("says what its golden files say", () => {
  test.each(Object.entries(kinds))("%s", async (name, content) => {
    const notice = noticeOf(content, { organizationName: "Acme", dashboardUrl });
    const { subject, text, html } = mailOf(notice, `${dashboardUrl}/recipient#token`);
    await expect(`Subject: ${subject}\n\n${text}`).toMatchFileSnapshot(golden(`${name}.txt`));
    await expect(html).toMatchFileSnapshot(golden(`${name}.html`));
    const slack = `${JSON.stringify(slackOf(notice), null, 2)}\n`;
    await expect(slack).toMatchFileSnapshot(golden(`${name}.slack.json`));
  });
});
