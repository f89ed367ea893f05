/** SCIM users: reads those that clients send, and shows those that are stored. */
import * as z from "zod/mini";
import { text, unseen } from "../../contract/text.ts";
import { valid } from "../../contract/valid.ts";
import { nameParts, type Person, type StoredUser } from "../person.ts";
import { schemas, withNames } from "./names.ts";
import { invalid } from "./problem.ts";

/** Clients send null and empty texts for attributes without a value. */
const unassigned = (value: unknown): unknown => (value === null || value === "" ? undefined : value);

const given = <S extends z.ZodMiniType>(schema: S) => z.pipe(z.transform(unassigned), z.optional(schema));

/** Microsoft Entra writes booleans as text. */
const boolean = z.pipe(
  z.transform((value: unknown) => {
    if (typeof value !== "string") return value;
    const word = value.toLowerCase();
    return word === "true" ? true : word === "false" ? false : value;
  }),
  z.boolean(),
);

/** A sort key has 1,024 bytes, and an id goes behind the name. */
const maximumNameBytes = 900;

/** A text that is part of a key. */
export const keyText = text(254).check(
  z.refine((value) => Buffer.byteLength(value) <= maximumNameBytes, "must have at most 900 bytes"),
);

/** Without characters that nobody sees, which would reorder what people read. */
const line = text(1000).check(z.overwrite((value) => value.replace(unseen, "")));
const tag = text(100);

const email = z.object({
  value: given(text(254).check(z.trim())),
  type: given(tag),
  display: given(line),
  primary: given(boolean),
});

/** With an offset, as RFC 7643, 2.3.5, says. */
const dateTime = z.pipe(
  z
    .string()
    .check(
      z.refine(
        (value) =>
          /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.test(value) && isTime(value),
        "must be a time such as 2026-11-03T08:15:00Z",
      ),
    ),
  z.transform((value: string) => new Date(value).toISOString()),
);

/** After year 0 and before year 10,000, so that times sort as texts. */
const isTime = (value: string): boolean => {
  const time = Date.parse(value);
  return time >= 0 && time < Date.UTC(10_000, 0);
};

/** A text, or an object with the id of the manager. */
const manager = z.pipe(
  z.transform((value: unknown) => (typeof value === "string" ? { value } : value)),
  z.object({ value: given(text(254)), displayName: given(line) }),
);

export const mostEmails = 20;

const resource = z.object({
  userName: keyText.check(z.trim(), z.minLength(1)),
  externalId: given(keyText),
  active: given(boolean),
  displayName: given(line),
  name: given(z.object(Object.fromEntries(nameParts.map((part) => [part, given(line)])) as NameShape)),
  title: given(line),
  preferredLanguage: given(tag),
  emails: given(z.array(email).check(z.maxLength(mostEmails))),
  [schemas.enterprise]: given(
    z.object({ department: given(line), employeeNumber: given(tag), manager: given(manager) }),
  ),
  [schemas.service]: given(z.object({ passwordChangedAt: given(dateTime), privileged: given(boolean) })),
});
type NameShape = Record<(typeof nameParts)[number], ReturnType<typeof given<typeof line>>>;

/** Without attributes that have no value. */
const compact = <T extends object>(value: T): T =>
  Object.fromEntries(
    Object.entries(value).filter(
      ([, each]) => each !== undefined && !(typeof each === "object" && Object.keys(each).length === 0),
    ),
  ) as T;

/**
 * What is stored of a user as a client sends it. Other attributes are passed over. Throws a `Problem` of
 * `invalidValue`.
 */
export const readUser = (body: unknown): StoredUser => {
  const { data, problem } = valid(resource, withNames(body));
  if (data === undefined)
    throw invalid("invalidValue", `${problem.path.join(".") || "The user"}: ${problem.message}`);
  const enterprise = data[schemas.enterprise] ?? {};
  const service = data[schemas.service] ?? {};
  const emails = (data.emails ?? []).flatMap(({ value, ...about }) =>
    value === undefined ? [] : [compact({ value, ...about })],
  );
  const { manager, ...company } = enterprise as NonNullable<(typeof data)[typeof schemas.enterprise]>;
  return compact({
    userName: data.userName,
    active: data.active ?? true,
    externalId: data.externalId,
    displayName: data.displayName,
    name: data.name && compact(data.name),
    title: data.title,
    preferredLanguage: data.preferredLanguage,
    emails: withOnePrimary(emails),
    ...company,
    manager: manager?.value === undefined ? undefined : compact({ ...manager, value: manager.value }),
    ...service,
  }) as StoredUser;
};

/** At most one is primary (RFC 7643, 2.4): the last that says so. */
const withOnePrimary = <E extends { primary?: boolean | undefined }>(emails: readonly E[]): E[] => {
  const last = emails.findLastIndex(({ primary }) => primary === true);
  return emails.map((email, index) =>
    email.primary === true && index !== last ? { ...email, primary: false } : email,
  );
};

/** The attributes of a stored user, as SCIM names and nests them. */
export const attributesOf = (user: StoredUser): Record<string, unknown> => {
  const { department, employeeNumber, manager, passwordChangedAt, privileged, ...core } = user;
  const enterprise = compact({ department, employeeNumber, manager });
  const service = compact({ passwordChangedAt, privileged });
  return {
    ...core,
    ...(Object.keys(enterprise).length > 0 && { [schemas.enterprise]: enterprise }),
    ...(Object.keys(service).length > 0 && { [schemas.service]: service }),
  };
};

export type NamedGroup = { id: number; name: string };

/** A user as clients see it. `url`: of SCIM's root. */
export const userResource = (
  { id, createdAt, modifiedAt, user }: Person,
  groups: readonly NamedGroup[],
  url: string,
): Record<string, unknown> => {
  const attributes = attributesOf(user);
  return {
    schemas: [
      schemas.user,
      ...[schemas.enterprise, schemas.service].filter((extension) => extension in attributes),
    ],
    id: String(id),
    ...attributes,
    ...(groups.length > 0 && {
      groups: groups.map((group) => ({
        value: String(group.id),
        $ref: `${url}/Groups/${group.id}`,
        display: group.name,
        type: "direct",
      })),
    }),
    meta: {
      resourceType: "User",
      created: createdAt,
      lastModified: modifiedAt,
      location: `${url}/Users/${id}`,
    },
  };
};
