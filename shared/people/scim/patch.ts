/** Changes by PATCH (RFC 7644, 3.5.2), in the forms that clients really send (docs/directory.md). */

import * as z from "zod/mini";
import { valid } from "../../contract/valid.ts";
import { changedEmails } from "./emails.ts";
import { type Operation, type Path, readPath, schemas, withNames } from "./names.ts";
import { invalid, type Problem } from "./problem.ts";

const mostOperations = 1000;

const request = z.object({
  Operations: z
    .array(
      z.object({
        op: z.pipe(
          z.string().check(z.toLowerCase()),
          z.enum(["add", "remove", "replace"], "must be add, remove or replace"),
        ),
        path: z.optional(z.nullable(z.string())),
        value: z.optional(z.unknown()),
      }),
    )
    .check(z.minLength(1), z.maxLength(mostOperations)),
});

/** Attributes that clients cannot write. */
const readOnly: readonly (string | undefined)[] = ["id", "meta", "groups", "schemas"];

/** Clients write the name of the list in any case. */
const withOperations = (body: Record<string, unknown>): unknown =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [/^operations$/i.test(name) ? "Operations" : name, value]),
  );

/**
 * The operations of a request, each about one attribute. Read-only attributes in a value without a path are
 * passed over. Throws a `Problem` of `invalidSyntax`, `invalidPath`, `mutability` or `noTarget`.
 */
export const readOperations = (body: Record<string, unknown>): Operation[] => {
  const { data, problem } = valid(request, withOperations(body));
  if (data === undefined) throw invalid("invalidSyntax", `${problem.path.join(".")}: ${problem.message}`);
  return data.Operations.flatMap(({ op, path: text, value }) => {
    if (op !== "remove" && value === undefined)
      throw invalid("invalidValue", "value: is required to add and to replace");
    if (text === undefined || text === null || text === "") {
      if (op === "remove") throw invalid("noTarget", "path: is required to remove");
      return inValue(op, value);
    }
    const path = readPath(text);
    if (path === undefined) throw invalid("invalidPath", "path: is no path of SCIM");
    if (path.schema === undefined && path.attribute !== "schemas" && readOnly.includes(path.attribute))
      throw invalid("mutability", `path: ${path.attribute} is read-only`);
    return expanded({ op, path, value: withNames(value) });
  });
};

/** The attributes of a value without a path. Their names may be paths. */
const inValue = (op: "add" | "replace", value: unknown): Operation[] => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("invalidValue", "value: must be an object where there is no path");
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = readPath(name);
    if (path === undefined || (path.schema === undefined && readOnly.includes(path.attribute))) return [];
    return expanded({ op, path, value: withNames(inner) });
  });
};

/** An extension as a whole becomes its attributes. */
const expanded = (operation: Operation): Operation[] => {
  const { op, path, value } = operation;
  const { schema, attribute } = path;
  if (schema === undefined || attribute !== undefined) return [operation];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [operation];
  return Object.entries(value).map(([name, inner]) => ({
    op,
    path: { ...path, attribute: name, filter: undefined, subAttribute: undefined },
    value: inner,
  }));
};

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === "";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object with another value of an attribute; nothing takes the attribute away. */
const withValue = (
  object: Record<string, unknown>,
  attribute: string,
  value: unknown,
): Record<string, unknown> => {
  const { [attribute]: _, ...rest } = object;
  return isNothing(value) ? rest : { ...rest, [attribute]: value };
};

/** An attribute after an operation on it, or on a part of it. */
const changed = (before: unknown, { op, path, value }: Operation): unknown => {
  const { attribute, subAttribute } = path;
  const given = op === "remove" ? undefined : value;
  if (subAttribute !== undefined) return withValue(isObject(before) ? before : {}, subAttribute, given);
  // Another manager has another name. Entra's documents have a list of one.
  if (attribute === "manager") return Array.isArray(given) ? given[0] : given;
  // What a value leaves out of a complex attribute stays (RFC 7644, 3.5.2.3).
  return isObject(before) && isObject(given) ? { ...before, ...given } : given;
};

/** Attributes of users that are stored, and can be written. */
const stored: readonly (string | undefined)[] = [
  "userName",
  "externalId",
  "active",
  "displayName",
  "name",
  "title",
  "preferredLanguage",
  "emails",
];

const isStored = ({ schema, attribute }: Path): boolean =>
  schema === undefined
    ? stored.includes(attribute)
    : attribute !== undefined && (schema === schemas.enterprise || schema === schemas.service);

/** What must be there cannot be removed (RFC 7644, 3.5.2.2). */
export const required = (attribute: string): Problem =>
  invalid("mutability", `${attribute}: is required, and cannot be removed`);

/**
 * The attributes of a user after these operations. Operations on attributes that are not stored do nothing.
 * Throws a `Problem` of `invalidPath` or `noTarget`.
 */
export const patched = (
  attributes: Record<string, unknown>,
  operations: readonly Operation[],
): Record<string, unknown> => {
  let resource = structuredClone(attributes);
  for (const operation of operations) {
    const { op, path } = operation;
    if (op === "remove" && path.schema !== undefined && path.attribute === undefined) {
      const { [path.schema]: _, ...rest } = resource;
      resource = rest;
      continue;
    }
    if (!isStored(path)) continue;
    if (op === "remove" && path.attribute === "userName") throw required("userName");
    if (path.attribute === "emails") {
      const { emails } = resource;
      resource = { ...resource, emails: changedEmails(Array.isArray(emails) ? emails : [], operation) };
      continue;
    }
    const { schema, attribute, filter } = path;
    if (filter !== undefined || attribute === undefined)
      throw invalid("invalidPath", `path: ${attribute ?? schema} has no entries to choose from`);
    const container = schema === undefined ? resource : resource[schema];
    const before = isObject(container) ? container : {};
    const after = withValue(before, attribute, changed(before[attribute], operation));
    resource = schema === undefined ? after : { ...resource, [schema]: after };
  }
  return resource;
};
