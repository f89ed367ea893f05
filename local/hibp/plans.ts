/** The plans of Have I Been Pwned as of 2026, each at its smallest size of note. */

export const planNames = ["core", "pro", "high-rpm"] as const;
export type PlanName = (typeof planNames)[number];

export type Plan = {
  name: string;
  /** Look-ups of single addresses a minute. */
  rpm: number;
  includesDomainSearch: boolean;
  /** Stealer logs, and the rest that only Pro has. */
  isPro: boolean;
  /** Look-ups by the beginning of an address's hash. */
  includesKAnon: boolean;
};

export const plans: Readonly<Record<PlanName, Plan>> = {
  core: {
    name: "Core 1",
    rpm: 10,
    includesDomainSearch: true,
    isPro: false,
    includesKAnon: false,
  },
  pro: {
    name: "Pro 1",
    rpm: 1_000,
    includesDomainSearch: true,
    isPro: true,
    includesKAnon: true,
  },
  "high-rpm": {
    name: "High RPM 12000",
    rpm: 12_000,
    includesDomainSearch: false,
    isPro: false,
    includesKAnon: true,
  },
};
