import { createHash } from "node:crypto";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import {
  latestBreach,
  probe,
  type Resource,
  type SubscribedDomain,
  subscribedDomains,
  subscriptionStatus,
  UpstreamFailure,
} from "../../../shared/hibp/hibp.ts";
import { noticesFor } from "../../../shared/hibp/plan-notices.ts";
import { lacks } from "../../../shared/hibp/subscription.ts";
import {
  listedDomains,
  type PlanNotice,
  rate,
  storedSubscription,
} from "../../../shared/hibp/subscription-state.ts";
import { withUpstream } from "../../../shared/hibp/upstream.ts";
import * as domainRows from "../../../shared/monitoring/domains/domain.ts";
import type { Commands } from "../command.ts";
import type { Stack } from "../connect.ts";
import { print } from "../print.ts";

/** HIBP answers for this address to every key (https://haveibeenpwned.com/API/v3#TestAccounts). */
const testAddress = "account-exists@hibp-integration-tests.com";

const hashLetters = 6;
const waitSeconds = 90;

type Probe = {
  endpoint: string;
  answer: "yes" | "no" | "not in the plan" | "not asked";
  says: string | null;
};

export const upstreamCommands: Commands = {
  "upstream show": {
    about: "Shows what Have I Been Pwned last said of the subscription and its domains.",
    flags: {},
    run: async () => {
      const { notices = [], ...subscription } = (await storedSubscription()) ?? {};
      const all = [...notices, ...(await lostSearches())].map(({ text }) => ({ notice: text }));
      const domains = (await listedDomains()).map(({ name, ...counts }) => ({ name, ...counts }));
      return { ...subscription, domains, notices: all };
    },
    print: ({
      domains,
      notices,
      ...subscription
    }: { domains: SubscribedDomain[]; notices: { notice: string }[] } & Record<string, unknown>) =>
      [
        Object.keys(subscription).length === 0
          ? "Have I Been Pwned has not answered yet.\n"
          : print(subscription),
        print({ domains }),
        notices.length === 0 ? "" : print({ notices }),
      ].join(""),
  },
  "upstream test": {
    about:
      "Asks each endpoint of Have I Been Pwned that the plan has, about test accounts and one of " +
      "its domains; exits 1 when one does not answer.",
    flags: {},
    run: async (_, stack) => {
      useKeyOf(stack);
      return { endpoints: await testAll() };
    },
    isWrong: ({ endpoints }: { endpoints: Probe[] }) => endpoints.some(({ answer }) => answer === "no"),
  },
};

/** What the verified domains of all organizations have lost. */
const lostSearches = async (): Promise<PlanNotice[]> => {
  const lost: PlanNotice[] = [];
  for await (const ids of organizations.everyId()) {
    for (const org of ids) lost.push(...noticesFor([], await domainRows.list(org)));
  }
  return lost;
};

/** The command reads the key where the functions do. */
const useKeyOf = ({ outputs }: Stack): void => {
  const { HibpApiKeyParameter: parameter, HibpContact: contact } = outputs;
  if (parameter !== undefined) process.env.HIBP_API_KEY_PARAMETER = parameter;
  if (contact !== undefined) process.env.HIBP_CONTACT = contact;
};

const testAll = async (): Promise<Probe[]> => {
  const probes: Probe[] = [];
  /** `isOptional`: no field of the status tells whether the plan has this endpoint, so that its refusal does. */
  const tell = async <T>(
    endpoint: string,
    call: () => Promise<T>,
    { isOptional = false } = {},
  ): Promise<T | undefined> => {
    try {
      const answer = await withUpstream(await rate(), call, { waitSeconds });
      probes.push({ endpoint, answer: "yes", says: null });
      return answer;
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      const isLacking = isOptional && lacks(error.kind);
      probes.push({ endpoint, answer: isLacking ? "not in the plan" : "no", says: error.message });
      return undefined;
    }
  };
  const tellIf = async (why: string | undefined, endpoint: Resource, argument: string): Promise<void> => {
    if (why === undefined) await tell(endpoint, () => probe(endpoint, argument));
    else probes.push({ endpoint, answer: "not asked", says: why });
  };

  const status = await tell("subscription/status", subscriptionStatus);
  await tell("latestbreach", latestBreach);
  for (const endpoint of ["breaches", "dataclasses"] as const) await tell(endpoint, () => probe(endpoint));
  await tell("breachedaccount", () => probe("breachedaccount", testAddress));
  const lacksRange = status?.includesKAnon === false ? "IncludesKAnon is false" : undefined;
  const prefix = createHash("sha1").update(testAddress).digest("hex").slice(0, hashLetters);
  await tellIf(lacksRange, "breachedaccount/range", prefix);

  const listed = await tell("subscribeddomains", subscribedDomains, { isOptional: status !== undefined });
  const [domain] = (listed ?? []).toSorted((one, other) => (one.pwnCount ?? 0) - (other.pwnCount ?? 0));
  const lacksDomain = domain === undefined ? "HIBP lists no domain of this key" : undefined;
  const name = domain?.name ?? "";
  await tellIf(lacksDomain, "breacheddomain", name);
  const lacksLogs = status?.includesStealerLogs === false ? "IncludesStealerLogs is false" : lacksDomain;
  await tellIf(lacksLogs, "stealerlogsbyemail", `account-exists@${name}`);
  await tellIf(lacksLogs, "stealerlogsbywebsitedomain", name);
  await tellIf(lacksLogs, "stealerlogsbyemaildomain", name);
  return probes;
};
