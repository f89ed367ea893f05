import type { Event } from "../../shared/alerts/envelope.ts";

type Breaches = Extract<Event, { type: "breach" }>["data"]["breaches"];

/** A breach event with these breaches; what is not given is ordinary. */
export const breachEvent = (...breaches: Partial<Breaches[number]>[]): Event => ({
  type: "breach",
  data: {
    breaches: breaches.map((breach, index) => ({
      breachId: index + 1,
      title: `Breach ${index + 1}`,
      domain: `breach-${index + 1}.example`,
      dataClasses: ["Email addresses", "Passwords"],
      ...breach,
    })),
  },
});

export const scanComplete: Event = {
  type: "scan_complete",
  data: { scannedCount: 99_995, newBreachCount: 3, failedCount: 5, totalEmails: 100_000 },
};

export const scanError: Event = {
  type: "scan_error",
  data: { error: "5 e-mail addresses could not be scanned & <will> be retried on the next scan" },
};

/** Text that somebody upstream or a user may have chosen to harm or mislead whoever is alerted. */
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
  "\uD800 lone surrogate \uDFFF",
  "x".repeat(100_000),
  "&".repeat(100_000),
  "👩‍👩‍👧".repeat(1_000),
  "",
  " \t\n",
];
