import * as z from "zod/mini";
import { unknownDate } from "../contract/unknown-date.ts";
import { severityOf } from "./severity.ts";
import type { Severity } from "./severity-schema.ts";

/** A breach as the catalog holds it. */
export type Breach = {
  /** Our id: drawn once for each `name`, never reused. */
  id: number;
  /** HIBP's `Name`. It never changes, even when the title does. */
  name: string;
  title: string;
  domain: string;
  /** YYYY-MM-DD */
  breachDate: string;
  dataClasses: string[];
  pwnCount: number;
  /** HTML as HIBP sent it, cut at 16,384 characters. Escape or sanitize it before showing it. */
  description: string;
  /** ISO 8601 in UTC with milliseconds; null when HIBP did not say. */
  addedDate: string | null;
  modifiedDate: string | null;
  isVerified: boolean;
  isFabricated: boolean;
  isSensitive: boolean;
  isRetired: boolean;
  isSpamList: boolean;
  isMalware: boolean;
  isSubscriptionFree: boolean;
  isStealerLog: boolean;
  attribution: string | null;
  logoPath: string | null;
  /**
   * Computed from the other fields (severity.ts). Stored, so that findings get a new severity when a row
   * changes, and not with a release.
   */
  severity: Severity;
};

/** A breach as HIBP lists it. */
export type BreachDetails = Omit<Breach, "id">;

// Lambda's replies take 6 MB, which must do for a hundred breaches; a row takes 400 KB.
const maxDescriptionCharacters = 16_384;
const maxTextCharacters = 1_000;
const maxDataClasses = 100;
const maxDataClassCharacters = 100;

/** `toWellFormed` replaces half characters, which cutting can leave: storing them would change them. */
const cut = (text: string, characters: number): string => text.slice(0, characters).toWellFormed();

/** The maximum keeps the name within a sort key of the table, which takes 1,024 bytes. */
export const breachName = z.pipe(
  z.string().check(z.minLength(1), z.maxLength(300)),
  z.transform((name: string) => name.toWellFormed()),
);

const text = (characters: number) =>
  z.pipe(
    z.catch(z.string(), ""),
    z.transform((value: string) => cut(value, characters)),
  );

const flag = (missing: boolean) => z.catch(z.boolean(), missing);

/** A time as ISO 8601 in UTC. HIBP writes some without seconds, and some without saying that they are in UTC. */
export const time = z.pipe(
  z.catch(z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d/)), ""),
  z.transform((value: string): string | null => {
    const at = Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`);
    return Number.isNaN(at) ? null : new Date(at).toISOString();
  }),
);

/** No breach of a website is older. Programs write year 1 or 1900 for a date that they do not have. */
const firstDate = "1980-01-01";

/** A day, which may have a time behind it. */
const breachDate = z.catch(
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((value: string) => value.slice(0, 10)),
    ),
    z.iso.date().check(z.refine((date) => date >= firstDate)),
  ),
  unknownDate,
);

const optionalText = z.pipe(
  z.catch(z.nullable(z.string()), null),
  z.transform((value: string | null) => (value ? cut(value, maxTextCharacters) : null)),
);

const dataClasses = z.pipe(
  z.catch(z.array(z.unknown()), []),
  z.transform((classes: unknown[]) =>
    classes
      .filter((each) => typeof each === "string")
      .slice(0, maxDataClasses)
      .map((each) => cut(each, maxDataClassCharacters)),
  ),
);

/**
 * A breach as HIBP sends it. Only the name is required: any other missing or malformed field gets a neutral
 * value. So one odd breach does not fail the whole list.
 */
const hibpForm = z.object({
  Name: breachName,
  Title: text(maxTextCharacters),
  Domain: text(maxTextCharacters),
  BreachDate: breachDate,
  AddedDate: time,
  ModifiedDate: time,
  PwnCount: z.catch(z.int().check(z.minimum(0)), 0),
  Description: text(maxDescriptionCharacters),
  DataClasses: dataClasses,
  IsVerified: flag(true),
  IsFabricated: flag(false),
  IsSensitive: flag(false),
  IsRetired: flag(false),
  IsSpamList: flag(false),
  IsMalware: flag(false),
  IsSubscriptionFree: flag(false),
  IsStealerLog: flag(false),
  Attribution: optionalText,
  LogoPath: optionalText,
});

type HibpForm = z.output<typeof hibpForm>;

/** The fields have HIBP's names, with a small first letter. */
const detailsIn = (form: HibpForm): BreachDetails => {
  const details = Object.fromEntries(
    Object.entries(form).map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), value]),
  ) as { [Name in keyof HibpForm as Uncapitalize<Name>]: HibpForm[Name] };
  return { ...details, title: details.title || details.name, severity: severityOf(details) };
};

/** Parses a breach as HIBP sends it, and converts it. */
export const upstreamBreach = z.pipe(hibpForm, z.transform(detailsIn));

/** What is stored of a breach while HIBP has said no more than these fields. */
export const breachOf = <Given extends Partial<BreachDetails> & Pick<BreachDetails, "name">>(
  given: Given,
): Given & BreachDetails => {
  const details = { ...detailsIn(hibpForm.parse({ Name: given.name })), ...given };
  return { ...details, severity: given.severity ?? severityOf(details) };
};
