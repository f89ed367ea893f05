/** Names of SCIM's schemas and attributes (RFC 7643), which clients write in any case. */

export const schemas = {
  user: "urn:ietf:params:scim:schemas:core:2.0:User",
  group: "urn:ietf:params:scim:schemas:core:2.0:Group",
  enterprise: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
  /** Ours: what a leaked password and an account mean. */
  service: "urn:breach-monitor:scim:2.0:User",
  list: "urn:ietf:params:scim:api:messages:2.0:ListResponse",
  patch: "urn:ietf:params:scim:api:messages:2.0:PatchOp",
  error: "urn:ietf:params:scim:api:messages:2.0:Error",
} as const;

const extensions: readonly string[] = [schemas.enterprise, schemas.service];

/** Entra sends attributes of an extension with a new user only if its name has this form. */
const serviceForEntra = "urn:ietf:params:scim:schemas:extension:BreachMonitor:2.0:User".toLowerCase();

/** Entra's documents name these without their schema. */
const ofEnterprise = ["department", "employeeNumber", "manager"];

/** Attributes that are stored or shown, by their names in lower case. */
const canonical = new Map(
  [
    "id externalId meta schemas userName active displayName name title preferredLanguage emails groups members",
    "formatted familyName givenName middleName honorificPrefix honorificSuffix",
    "value type primary display department employeeNumber manager passwordChangedAt privileged",
    ...Object.values(schemas),
  ]
    .flatMap((names) => names.split(" "))
    .map((name) => [name.toLowerCase(), name]),
);

/** A name as RFC 7643 writes it; other names stay as they are. */
export const attributeName = (name: string): string =>
  name.toLowerCase() === serviceForEntra ? schemas.service : (canonical.get(name.toLowerCase()) ?? name);

/** These names reach behind an object in JavaScript. */
const isOfObjects = (name: string): boolean => /^(?:__proto__|prototype|constructor)$/i.test(name);

/** The same value with its attributes named as RFC 7643 does, at any depth, without names of JavaScript's objects. */
export const withNames = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withNames);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !isOfObjects(name))
      .map(([name, inner]) => [attributeName(name), withNames(inner)]),
  );
};

export type Path = {
  /** The extension's schema; undefined of an attribute of the core. */
  schema: string | undefined;
  /** The attribute; undefined of a path that is an extension as a whole. */
  attribute: string | undefined;
  /** What stands in brackets behind the attribute. */
  filter: string | undefined;
  subAttribute: string | undefined;
};

/** One change of PATCH (RFC 7644, 3.5.2). */
export type Operation = { op: "add" | "remove" | "replace"; path: Path; value: unknown };

const form = /^([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/s;

/** Reads a path (RFC 7644, 3.10), or undefined if it is none. */
export const readPath = (given: string): Path | undefined => {
  const path = given.toLowerCase().startsWith(`${serviceForEntra}:`)
    ? `${schemas.service}${given.slice(serviceForEntra.length)}`
    : given;
  const lower = path.toLowerCase();
  const schema = [schemas.user, schemas.group, ...extensions].find((each) => {
    const name = each.toLowerCase();
    return lower === name || lower.startsWith(`${name}:`);
  });
  const extension = schema !== undefined && extensions.includes(schema) ? schema : undefined;
  const rest = schema === undefined ? path : path.slice(schema.length + 1);
  if (rest === "")
    return { schema: extension, attribute: undefined, filter: undefined, subAttribute: undefined };
  // An attribute of an extension that is not known here.
  if (schema === undefined && lower.startsWith("urn:"))
    return { schema: path, attribute: undefined, filter: undefined, subAttribute: undefined };
  const [, attribute, filter, subAttribute] = form.exec(rest) ?? [];
  if (attribute === undefined || [attribute, subAttribute ?? ""].some(isOfObjects)) return undefined;
  const name = attributeName(attribute);
  return {
    schema: schema === undefined && ofEnterprise.includes(name) ? schemas.enterprise : extension,
    attribute: name,
    filter,
    subAttribute: subAttribute === undefined ? undefined : attributeName(subAttribute),
  };
};
