/** Where in the dashboard one is: a path below the base, and the query with filters and pages. */

export const base = "/api/app";

export type Query = Readonly<Record<string, string>>;
export type Place = { path: string; query: Query };

/** Path without the base and without a slash at its end: "/findings"; the first page is "/". */
export function placeOf(pathname: string, search: string): Place {
  const below = pathname.startsWith(base) ? pathname.slice(base.length) : "";
  const path = `/${below.split("/").filter(Boolean).join("/")}`;
  return { path, query: Object.fromEntries(new URLSearchParams(search)) };
}

export type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

/** The address of a place. Undefined and empty values are left out. */
export function addressOf(path: string, query: QueryValues = {}): string {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined || value === "" ? [] : [[name, String(value)]],
    ),
  ).toString();
  return `${base}${path === "/" ? "/" : path}${search === "" ? "" : `?${search}`}`;
}

/** The place with some of its query changed. A changed filter leads to the first page of the list. */
export function changed({ path, query }: Place, changes: QueryValues): string {
  const { offset: _, ...filters } = query;
  return addressOf(path, { ...("offset" in changes ? query : filters), ...changes });
}

/** A page's offset as the URL has it. Anything but a plain number is the first page. */
export const offsetOf = ({ offset = "" }: Query): number => (/^\d{1,15}$/.test(offset) ? Number(offset) : 0);
