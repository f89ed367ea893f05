/**
 * What a kind of channel answers. Each kind has a folder, which alone knows it, and a line in the tables of kinds.ts,
 * senders.ts and configs-schema.ts.
 */
import type { Logger } from "@aws-lambda-powertools/logger";
import type * as z from "zod/mini";
import type { Organization } from "../../access/organizations/organization.ts";
import type { Answer } from "./answer.ts";
import type { channelConfig, shownConfig } from "./configs-schema.ts";
import type { Addressee } from "./email/recipient.ts";
import type { Event } from "./events.ts";
import type { Notice } from "./notice.ts";

/** The kinds of channels that people set up. */
export type ChannelKind = keyof typeof channelConfig;

/** A kind of channel with the config of this kind, secrets included. */
export type ChannelForm = {
  [Name in ChannelKind]: { channel: Name; config: z.output<(typeof channelConfig)[Name]> };
}[ChannelKind];

/** A form as the table holds it: what may be shown, and the rest sealed (channels/seal.ts). */
export type StoredForm = {
  [Name in ChannelKind]: {
    channel: Name;
    config: z.output<(typeof shownConfig)[Name]>;
    /** Absent where nothing is secret. */
    sealed?: string;
  };
}[ChannelKind];

/** The channel of messages to owners, which nobody sets up and which has no row. */
export type OwnersForm = { channel: "owner"; config: Record<never, never> };

export type AnyForm = ChannelForm | OwnersForm;

/** Callers pass a config of the same kind. */
export type Kind<Config = AnyForm["config"]> = {
  /** As sentences name it: "the Slack alert channel 4". */
  label: string;
  /** People read its messages, also about scans as a whole. Otherwise programs get events of single addresses. */
  isForPeople: boolean;
  /** Its option `tellOwners` may be set. */
  mayTellOwners: boolean;
  /** People have set up such a channel: it has a row, and they are told when nothing arrives there. */
  isSetUp: boolean;
  /** Where it sends to: the field of its config, and its value. A string is the url of an HTTP receiver. */
  destinationOf(config: Config): { field: string; value: string | readonly string[] };
  /** Why a public url is none of this kind, and what to do instead. */
  reasonAgainst?(url: URL): string | undefined;
  /** The config as it is kept. */
  kept?(config: Config): Config;
  /** A change of a config, without values that only repeat what replies show. */
  changeOf?<Change extends Record<string, unknown>>(config: Config, change: Change): Change;
  /** What of the config may be stored in plain, and shown. Absent: all of it. */
  shown?(config: Config): StoredForm["config"];
  /** Signs the messages. */
  secretOf?(config: Config): string | undefined;
  /** The addresses that each get a copy. */
  recipientsOf?(config: Config): readonly string[];
};

/** A message as its receivers need it: in words, or as an event. `owner`: the address that it is about and goes to. */
export type Told = { notice: () => Notice; event: () => Event; owner?: string };

/** Why nothing can be sent. `isOperators`: only whoever operates the service can mend it. */
export type Obstacle = { failure: string; isOperators?: boolean };

/** An attempt that may be made. `deliveryId` is equal in every attempt of a delivery; `at` is the attempt's time. */
type Attempted = {
  deliveryId: number;
  at: Date;
  /** The url of the dashboard's page, without a slash at its end. */
  dashboardUrl: string;
  /** Who gets a copy, of kinds that have recipients. */
  addressees: readonly Addressee[];
};

/** What an attempt is planned from. */
export type Occasion = {
  organization: Organization;
  told: Told;
  /** Fingerprints of addresses that have their copy. */
  reached: ReadonlySet<string>;
  /** About a single address. */
  isSingle: boolean;
  /** Tells of a breach of high severity or above. */
  isUrgent: boolean;
  /** Everybody with a session or a key can cause it. */
  isCaused: boolean;
  /** The hour, by its begin (ISO 8601), that a plan before has booked for it. */
  bookedFrom?: string | undefined;
  dashboardUrl: string;
  logger: Logger;
};

/**
 * `addressees`: who gets a copy; none if all have theirs. `giveBack` is told how many copies an attempt has sent, or
 * nothing without an attempt. It gives the others back to the budget, and never throws. `obstacle`: why nothing may be
 * sent for `seconds`. `isOfTurn`: it has its turn then, and is not given up however long it waits; in the hour from
 * `bookedFrom`, if that is booked. `over`: why nothing will ever be.
 */
export type Plan =
  | { addressees: readonly Addressee[]; giveBack: (sent?: number) => Promise<void> }
  | { obstacle: Obstacle; seconds: number; isOfTurn?: boolean; bookedFrom?: string }
  | { over: string };

/**
 * What became of one attempt. `status` (2xx): delivered. `failure` is a short reason for people. It never
 * contains a url, a header, an address or a part of the response. `response`: what an HTTP receiver
 * answered (answer.ts).
 *
 * A failed attempt is made again. With `retryAfterSeconds` the receiver throttled it and asks for this pause (0: it
 * named none), and the attempt does not count. `isFinal`: further attempts are of no use. `reached`: the addresses
 * that got their copy, also in an attempt that failed for others.
 */
export type AttemptResult = (
  | { status: number }
  | (Obstacle & { retryAfterSeconds?: number; isFinal?: boolean })
) & { reached?: readonly string[]; response?: Answer };

/** What an attempt sends, as text: without signature, secret, and a recipient's own link. */
export type TextOf = (told: Told, attempted: Pick<Attempted, "deliveryId" | "at">) => string;

/** How a kind sends. Callers pass a config of the same kind. */
export type Sender<Config = AnyForm["config"]> = {
  /** Who gets the attempt, asked before it is claimed. Absent: whom the config names. */
  plan?(config: Config, occasion: Occasion): Promise<Plan>;
  /** Sends within 10 seconds. What receivers and networks do never throws. */
  send(config: Config, told: Told, attempted: Attempted): Promise<AttemptResult>;
};
