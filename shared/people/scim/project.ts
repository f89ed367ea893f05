/** `attributes` and `excludedAttributes` (RFC 7644, 3.9). */
import { readPath } from "./names.ts";

type Body = Record<string, unknown>;

/** These are in every reply (RFC 7643, 2.2). */
const always = ["schemas", "id"];

const pathsIn = (list: string): string[][] =>
  list.split(",").flatMap((text) => {
    const path = readPath(text.trim());
    if (path === undefined) return [];
    const { schema, attribute, subAttribute } = path;
    return [[schema, attribute, subAttribute].filter((part) => part !== undefined)];
  });

const isObject = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The parts of a value that these paths name. */
const picked = (value: unknown, paths: readonly string[][]): unknown => {
  if (paths.some((path) => path.length === 0)) return value;
  if (Array.isArray(value)) return value.map((each) => picked(each, paths));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const below = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
      return below.length === 0 ? [] : [[name, picked(inner, below)]];
    }),
  );
};

/** A value without the parts that these paths name. */
const stripped = (value: unknown, paths: readonly string[][]): unknown => {
  if (Array.isArray(value)) return value.map((each) => stripped(each, paths));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const below = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
      if (below.some((path) => path.length === 0)) return [];
      return [[name, below.length === 0 ? inner : stripped(inner, below)]];
    }),
  );
};

/** The resource as the client wants it. With both, `attributes` decides. */
export const projected = (
  resource: Body,
  { attributes, excludedAttributes }: { attributes?: string; excludedAttributes?: string },
): Body => {
  if (attributes !== undefined && attributes.trim() !== "")
    return picked(resource, [...always.map((name) => [name]), ...pathsIn(attributes)]) as Body;
  if (excludedAttributes === undefined) return resource;
  const paths = pathsIn(excludedAttributes).filter(([first = ""]) => !always.includes(first));
  return stripped(resource, paths) as Body;
};

/** Whether the reply has this attribute, so that what it leaves out need not be read. */
export const wants = (name: string, query: { attributes?: string; excludedAttributes?: string }): boolean =>
  name in projected({ [name]: {} }, query);
