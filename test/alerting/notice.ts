import type { ScanReport } from "../../shared/alerting/messages/content.ts";
import type { EventReport } from "../../shared/alerting/messages/event-report.ts";
import type { PersonReport } from "../../shared/alerting/messages/person.ts";
import { type Breach, breachOf } from "../../shared/hibp/breach.ts";

export const dashboardUrl = "https://monitor.acme.example/api/app";

type ExposedEmail = NonNullable<PersonReport["email"]>;

export const ada: ExposedEmail = {
  id: 7,
  address: "ada@acme.example",
  ownerName: "Ada Lovelace",
  teamName: "Engines",
};

/** A breach that leaked passwords, in which fields that are not given have ordinary values. */
export const breachWith = (fields: Partial<Breach>, id = 1): Breach => ({
  ...breachOf({
    name: `Breach${id}`,
    title: `Breach ${id}`,
    domain: `breach-${id}.example`,
    dataClasses: ["Email addresses", "Passwords"],
    breachDate: "2013-10-04",
    severity: "high",
    ...fields,
  }),
  id,
});

/** A report of these breaches. `email` is null once it is removed. The findings have the ids 101, 102, … */
export const breachReport = (
  breaches: readonly Partial<Breach>[],
  email: ExposedEmail | null = ada,
): PersonReport => ({
  kind: "person",
  scanId: 12,
  email: email ?? undefined,
  breaches: breaches.map((fields, index) => ({ ...breachWith(fields, index + 1), findingId: 101 + index })),
});

/** What a webhook is told of the same breaches. */
export const eventReport = (breaches: readonly Partial<Breach>[]): EventReport => ({
  kind: "event",
  breaches: breachReport(breaches).breaches,
  people: 1,
  place: "/emails/7",
});

export const scanComplete: ScanReport = {
  kind: "scan",
  event: {
    type: "scan_complete",
    scannedCount: 99_995,
    newBreachCount: 3,
    failedCount: 5,
    totalEmails: 100_000,
  },
};

export const scanErrorOf = (error: string, scanId?: number): ScanReport => ({
  kind: "scan",
  event: { type: "scan_error", error, ...(scanId !== undefined && { scanId }) },
});

export const problem = "5 e-mail addresses could not be scanned & <will> be retried on the next scan";

/** Text that somebody upstream, or a user, may have chosen to harm or mislead the readers of an alert. */
export const hostileTexts = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  "</li></ul></body>",
  "&lt;b&gt; &amp; &#60;",
  "<!channel> <!here> <@U012AB3CD> <#C012AB3CD>",
  "<https://evil.example|Have I Been Pwned>",
  "*bold* _italic_ ~struck~ `code` ```block```",
  "a\r\nBcc: eve@evil.example\r\n\r\nbody",
  "\0\u0007\u001b[31mred\u001b[0m\u007f\u0085",
  "\u202Egnp.exe\u2066hidden\u200B\uFEFF",
  "line\u2028separator\u2029paragraph",
  "\u200F\u061C\u05D0\u05D1 \u202Bscript\u202C",
  "ＡＤＡ＠аcme．example <script>",
  "\uD800 lone surrogate \uDFFF",
  "x".repeat(100_000),
  "&".repeat(100_000),
  "👩‍👩‍👧".repeat(1_000),
  "",
  " \t\n",
];
