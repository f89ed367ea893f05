/** What a test of a channel sends: an example of the message that new breaches make there, without a row behind it. */
import { detailed } from "../../findings/detailed.ts";
import type { DetailedFinding } from "../../findings/finding-schema.ts";
import type { Breach } from "../../hibp/breach.ts";
import { type AnyChannel, optionsOf } from "../channels/channel.ts";
import type { AlertOptions } from "../channels/channel-schema.ts";
import { kindOf } from "../kinds/kinds.ts";
import type { EventReport } from "./event-report.ts";
import type { PersonReport } from "./person.ts";
import type { Summary } from "./summary.ts";

export type ExampleReport = { kind: "example"; of: PersonReport | Summary | EventReport };

/** Nothing gets these ids: they begin with 1, and are few. */
const [first, second] = [2_147_483_646, 2_147_483_647];

/** What messages do not show. HIBP's parser, which has neutral values too, would make the bundle larger. */
const unshown = {
  pwnCount: 0,
  description: "",
  addedDate: null,
  modifiedDate: null,
  isVerified: true,
  isFabricated: false,
  isSensitive: false,
  isRetired: false,
  isSpamList: false,
  isMalware: false,
  isSubscriptionFree: false,
  isStealerLog: false,
  attribution: null,
  logoPath: null,
};

const shop: Breach = {
  ...unshown,
  id: first,
  name: "TestShop",
  title: "Example Shop",
  domain: "shop.example",
  breachDate: "2026-01-31",
  dataClasses: ["Email addresses", "Passwords"],
  severity: "high",
};
const forum: Breach = {
  ...unshown,
  id: second,
  name: "TestForum",
  title: "Example Forum",
  domain: "forum.example",
  breachDate: "2019-06-30",
  dataClasses: ["Email addresses", "Usernames"],
  severity: "low",
};

type Somebody = NonNullable<PersonReport["email"]>;

const ada: Somebody = { id: first, address: "ada@company.example", ownerName: "Ada Example", teamName: null };
const alan: Somebody = {
  id: second,
  address: "alan@company.example",
  ownerName: "Alan Example",
  teamName: null,
};

const reportOf = (email: Somebody, breaches: readonly Breach[]): PersonReport => ({
  kind: "person",
  scanId: undefined,
  email,
  breaches: breaches.map((breach) => ({ ...breach, findingId: 0 })),
});

const people: Summary = {
  kind: "findings",
  breaches: [
    { ...shop, people: 2, named: [], stealerLogDomains: [] },
    { ...forum, people: 1, named: [], stealerLogDomains: [] },
  ],
  persons: [reportOf(ada, [shop, forum]), reportOf(alan, [shop])],
  discreetPeople: 0,
  people: 2,
  inAll: { worst: shop, more: 1, findings: 3, people: 2 },
  unwatched: { count: 9, isAtMost: false, breachId: undefined },
  scanId: undefined,
};

const at = "2026-02-01T00:00:00.000Z";

const findingOf = (id: number, breach: Breach, email: Somebody): DetailedFinding => ({
  id,
  email: email.address,
  emailId: email.id,
  breach: detailed(breach),
  firstDetectedAt: at,
  lastSeenAt: at,
  firstDetectedScanId: null,
  acknowledged: false,
  acknowledgedAt: null,
  acknowledgedBy: null,
  acknowledgedByApiKey: null,
  acknowledgeReason: null,
  resolution: null,
  severity: breach.severity,
  isHistory: false,
  endedBy: null,
  ownerToldAt: null,
  ownerName: email.ownerName,
  team: null,
  isPrivileged: false,
  hasLeft: false,
});

const eventFor = ({ grouping, details }: AlertOptions): EventReport => {
  const isOfScan = grouping === "scan";
  const findings = [
    findingOf(first, shop, ada),
    isOfScan ? findingOf(second, shop, alan) : findingOf(second, forum, ada),
  ];
  return {
    kind: "event",
    breaches: isOfScan ? [shop] : [shop, forum],
    people: isOfScan ? 2 : 1,
    place: "",
    ...(details && { findings }),
  };
};

/** In the grouping of the channel, and for a webhook with the details that it asks for. */
export const exampleFor = (channel: AnyChannel): ExampleReport => {
  const options = optionsOf(channel);
  const ofPeople = options.grouping === "address" ? reportOf(ada, [shop, forum]) : people;
  return { kind: "example", of: kindOf(channel).isForPeople ? ofPeople : eventFor(options) };
};
