import type { Event } from "../../shared/alerting/senders/envelope.ts";
import type { ExposedEmail, Report } from "../../shared/alerting/senders/report.ts";
import type { Severity } from "../../shared/monitoring/hibp/severity-schema.ts";

type Breach = Extract<Event, { type: "breach" }>["data"]["breaches"][number] & {
  breachDate: string;
  severity: Severity;
};

export const dashboardUrl = "https://monitor.acme.example/api/app";

export const ada: ExposedEmail = {
  id: 7,
  address: "ada@acme.example",
  ownerName: "Ada Lovelace",
  teamName: "Engines",
};

/**
 * A report of these breaches; fields that are not given have ordinary values. `email` is null once it is
 * removed. The findings have the ids 101, 102, …
 */
export const breachReport = (
  breaches: readonly Partial<Breach>[],
  email: ExposedEmail | null = ada,
): Report => {
  const all = breaches.map((breach, index) => ({
    breachId: index + 1,
    title: `Breach ${index + 1}`,
    domain: `breach-${index + 1}.example`,
    dataClasses: ["Email addresses", "Passwords"],
    breachDate: "2013-10-04",
    severity: "high" as const,
    ...breach,
  }));
  const findings = new Map(
    all.map(({ breachId, breachDate, severity }) => [
      breachId,
      {
        id: 100 + breachId,
        breachDate,
        severity,
        advice: ["Change the password.", "Turn on a second factor."],
      },
    ]),
  );
  return {
    scanId: 12,
    event: {
      type: "breach",
      data: { breaches: all.map(({ breachDate: _, severity: __, ...breach }) => breach) },
    },
    exposure: { email: email ?? undefined, findings },
  };
};

export const scanComplete: Report = {
  event: {
    type: "scan_complete",
    data: { scannedCount: 99_995, newBreachCount: 3, failedCount: 5, totalEmails: 100_000 },
  },
};

export const scanErrorOf = (error: string): Report => ({ event: { type: "scan_error", data: { error } } });

export const scanError = scanErrorOf(
  "5 e-mail addresses could not be scanned & <will> be retried on the next scan",
);

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
