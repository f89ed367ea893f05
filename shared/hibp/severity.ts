/**
 * How bad a breach is for the people in it: a function of its flags and data classes. docs/severity.md has
 * the table with the reasons.
 */

import { type Severity, severities } from "./severity-schema.ts";

/** As it is stored in group keys and counts: 4 is critical, 1 is low. Never change it. */
export const levelOf = (severity: Severity): number => severities.length - severities.indexOf(severity);
export const severityAt = (level: number): Severity => severities[severities.length - level] as Severity;

/** The flags and data classes of a breach that its severity and its advice follow from. */
export type Exposure = {
  dataClasses: readonly string[];
  isVerified: boolean;
  isFabricated: boolean;
  isSpamList: boolean;
  isMalware: boolean;
  isStealerLog: boolean;
};

/** The data classes of HIBP's list by what they expose, as docs/severity.md gives reasons for. */
export const classesByTopic = {
  credentials: [
    "Auth tokens",
    "Encrypted keys",
    "Historical passwords",
    "Mnemonic phrases",
    "Mothers maiden names",
    "Password hints",
    "Passwords",
    "PINs",
    "Banking PINs",
    "Security questions and answers",
  ],
  identity: [
    "Biometric data",
    "Driver's licenses",
    "Government issued IDs",
    "National IDs",
    "Passport numbers",
    "Social security numbers",
    "Taxation records",
  ],
  payment: ["Bank account numbers", "Credit card CVV", "Credit cards"],
  intimate: [
    "Drug habits",
    "Health insurance information",
    "HIV statuses",
    "Personal health data",
    "Sexual fetishes",
    "Sexual orientations",
    "Sexual preferences",
  ],
  contact: [
    "Address book contacts",
    "Cellular network names",
    "Home addresses",
    "Instant messenger identities",
    "Partial phone numbers",
    "Phone numbers",
    "Physical addresses",
    "Recovery email addresses",
  ],
  messages: [
    "Audio recordings",
    "Chat logs",
    "Customer interactions",
    "Email messages",
    "Private messages",
    "SMS messages",
    "Support tickets",
  ],
  money: [
    "Account balances",
    "Buying preferences",
    "Charitable donations",
    "Credit status information",
    "Cryptocurrency wallet addresses",
    "Cryptocurrency wallet hashes",
    "Financial investments",
    "Financial transactions",
    "Home loan information",
    "Income levels",
    "Living costs",
    "Loyalty program details",
    "Net worths",
    "Partial credit card data",
    "Payment histories",
    "Payment methods",
    "Purchases",
    "Purchasing habits",
    "Reward program balances",
    "Utility bills",
  ],
  life: [
    "Appointments",
    "Dates of birth",
    "Deceased date",
    "Deceased statuses",
    "Drinking habits",
    "Ethnicities",
    "Family members' names",
    "Family plans",
    "Family structure",
    "Job applications",
    "Parenting plans",
    "Partial dates of birth",
    "Photos",
    "Physical attributes",
    "Places of birth",
    "Political donations",
    "Political views",
    "Races",
    "Relationship statuses",
    "Religions",
    "Social connections",
    "Spouses names",
  ],
  traces: [
    "Browsing histories",
    "Device information",
    "Device serial numbers",
    "Device usage tracking data",
    "Flights taken",
    "Geographic location",
    "Geographic locations",
    "IMEI numbers",
    "IMSI numbers",
    "IP addresses",
    "Licence plates",
    "Login histories",
    "MAC addresses",
    "Travel habits",
    "Travel plans",
    "Vehicle details",
    "Vehicle identification numbers (VINs)",
    "Website activity",
  ],
  profile: [
    "Avatars",
    "Bios",
    "Email addresses",
    "Genders",
    "Homepage URLs",
    "Names",
    "Nationalities",
    "Nicknames",
    "Personal descriptions",
    "Profile photos",
    "Salutations",
    "Social media profiles",
    "Spoken languages",
    "Time zones",
    "User statuses",
    "User website URLs",
    "Usernames",
  ],
  work: [
    "Career levels",
    "Education levels",
    "Employers",
    "Employment statuses",
    "Job titles",
    "Occupations",
    "Professional skills",
    "School grades (class levels)",
    "Work habits",
    "Years of professional experience",
  ],
  habits: [
    "Age groups",
    "Ages",
    "Apps installed on devices",
    "Astrological signs",
    "Beauty ratings",
    "Browser user agent details",
    "Car ownership statuses",
    "Customer feedback",
    "Eating habits",
    "Fitness levels",
    "Home ownership statuses",
    "Marital statuses",
    "Password strengths",
    "Personal interests",
    "Smoking habits",
    "Survey results",
    "User agent details",
    "Years of birth",
  ],
} as const satisfies Record<string, readonly string[]>;
export type Topic = keyof typeof classesByTopic;

export const severityOfTopic: Record<Topic, Severity> = {
  credentials: "high",
  identity: "high",
  payment: "high",
  intimate: "high",
  contact: "medium",
  messages: "medium",
  money: "medium",
  life: "medium",
  traces: "medium",
  profile: "low",
  work: "low",
  habits: "low",
};

/** HIBP's spelling differs from breach to breach. */
const comparable = (dataClass: string): string => dataClass.trim().toLowerCase().replaceAll("’", "'");

const topics = new Map<string, Topic>(
  Object.entries(classesByTopic).flatMap(([topic, names]) =>
    names.map((name): [string, Topic] => [comparable(name), topic as Topic]),
  ),
);

/** Numbers that a state gives to a person, whatever the country calls them. */
const nationalId = new RegExp(
  "\\bnational (?:id|identity|identification|insurance)" +
    "|\\b(?:identity card|social insurance|tax(?:payer)? (?:id|identification))",
);

/** What a data class exposes; undefined when the table does not know it. */
export const topicOf = (dataClass: string): Topic | undefined => {
  const name = comparable(dataClass);
  return topics.get(name) ?? (nationalId.test(name) ? "identity" : undefined);
};

/** The level of a data class by itself. One that the table does not know is medium. */
export const levelOfClass = (dataClass: string): number => {
  const topic = topicOf(dataClass);
  return levelOf(topic === undefined ? "medium" : severityOfTopic[topic]);
};

/**
 * Data classes by what they expose; those of one level stay in HIBP's order. E-mail addresses are in every
 * breach, and come last.
 */
export const worstFirst = (dataClasses: readonly string[]): string[] => {
  const rank = (dataClass: string): number =>
    comparable(dataClass) === "email addresses" ? 0 : levelOfClass(dataClass);
  return dataClasses.toSorted((one, other) => rank(other) - rank(one));
};

/** The severity of a breach. A data class that the table does not know is medium. */
export const severityOf = (breach: Exposure): Severity => {
  if (breach.isStealerLog || breach.isMalware) return "critical";
  if (breach.isSpamList || breach.isFabricated) return "low";
  const levels = breach.dataClasses.map(levelOfClass);
  const lowest = levelOf("low");
  return severityAt(Math.max(lowest, Math.max(lowest, ...levels) - (breach.isVerified ? 0 : 1)));
};
