import * as z from "zod/mini";

/** A breach as the catalog holds it. */
export type Breach = {
  /** Ours: minted once for each `name`, never reused. */
  id: number;
  /** HIBP's `Name`: permanent, also when the title changes. */
  name: string;
  title: string;
  domain: string;
  /** YYYY-MM-DD */
  breachDate: string;
  dataClasses: string[];
  pwnCount: number;
  /** HTML as HIBP sent it (cut at 16,384 characters): escape or sanitize it before showing it. */
  description: string;
};

/** What findings show of a breach, all but our id. */
export type BreachDetails = Omit<Breach, "id">;

/** What it says beside the details: nothing shows it, but when it changes the breach has changed. */
export type ListedBreach = BreachDetails & {
  /** ISO 8601 as HIBP sent it. */
  addedDate: string;
  modifiedDate: string;
  isSensitive: boolean;
  isRetired: boolean;
};

/** What a breach without a valid date shows, since the contract wants a date. */
export const unknownDate = "1970-01-01";

// A hundred breaches must fit a reply of a function (6 MB), and one must fit a row (400 KB).
const maxDescriptionCharacters = 16_384;
const maxTextCharacters = 1_000;
const maxDataClasses = 100;
const maxDataClassCharacters = 100;

/** `toWellFormed`, because a cut or hostile text can hold half a character, which storing it would change. */
const cut = (text: string, characters: number): string => text.slice(0, characters).toWellFormed();

/** A name is a sort key of the table (1,024 bytes at most). */
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
 * HIBP's form. Only the name is indispensable; a missing or malformed detail gets a neutral value, so that one odd entry does
 * not keep the rest from being known.
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

/** A breach as HIBP lists it, as ours. */
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
