import * as z from "zod/mini";
import { unknownDate } from "../../contract/unknown-date.ts";

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
};

/** What findings show of a breach, except for our id. */
export type BreachDetails = Omit<Breach, "id">;

/** A breach as HIBP lists it. A change of the fields that are not shown also counts as a change. */
export type ListedBreach = BreachDetails & {
  /** ISO 8601 as HIBP sent it. */
  addedDate: string;
  modifiedDate: string;
  isSensitive: boolean;
  isRetired: boolean;
};

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

/**
 * A breach as HIBP sends it. Only the name must be there: another field that is missing or malformed gets a
 * neutral value, so that one odd breach does not make the whole list fail.
 */
const hibpForm = z.object({
  Name: breachName,
  Title: text(maxTextCharacters),
  Domain: text(maxTextCharacters),
  BreachDate: z.catch(z.iso.date(), unknownDate),
  AddedDate: text(maxTextCharacters),
  ModifiedDate: text(maxTextCharacters),
  PwnCount: z.catch(z.int().check(z.minimum(0)), 0),
  Description: text(maxDescriptionCharacters),
  DataClasses: z.catch(z.array(z.unknown()), []),
  IsSensitive: z.catch(z.boolean(), false),
  IsRetired: z.catch(z.boolean(), false),
});

/** Parses a breach as HIBP sends it, and converts it. */
export const upstreamBreach = z.pipe(
  hibpForm,
  z.transform(
    (breach: z.output<typeof hibpForm>): ListedBreach => ({
      name: breach.Name,
      title: breach.Title === "" ? breach.Name : breach.Title,
      domain: breach.Domain,
      breachDate: breach.BreachDate,
      dataClasses: breach.DataClasses.filter((each) => typeof each === "string")
        .slice(0, maxDataClasses)
        .map((each) => cut(each, maxDataClassCharacters)),
      pwnCount: breach.PwnCount,
      description: breach.Description,
      addedDate: breach.AddedDate,
      modifiedDate: breach.ModifiedDate,
      isSensitive: breach.IsSensitive,
      isRetired: breach.IsRetired,
    }),
  ),
);
