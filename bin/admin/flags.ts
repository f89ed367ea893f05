/** Parsers of the values that flags take. Each throws a `CommandError` that names the flag. */
import { resolve } from "node:path";
import type * as z from "zod/mini";
import { billingRefusal } from "../../shared/access/billing/billing.ts";
import * as users from "../../shared/access/members/user.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { time } from "../../shared/contract/text.ts";
import { valid } from "../../shared/contract/valid.ts";
import type { Flags } from "./command.ts";
import { CommandError } from "./error.ts";

export const parse = <S extends z.ZodMiniType>(flag: string, schema: S, value: unknown): z.output<S> => {
  const { data, problem } = valid(schema, value);
  if (problem === undefined) return data;
  throw new CommandError(`--${flag}: ${problem.message}.`);
};

export const parseNumber = (flag: string, value = "", minimum = 0, maximum?: number): number => {
  if (!/^\d+$/.test(value)) throw new CommandError(`--${flag}: must be a whole number.`);
  const number = Number(value);
  if (number >= minimum && number <= (maximum ?? Number.MAX_SAFE_INTEGER)) return number;
  const range = maximum === undefined ? "is out of range" : `must be from ${minimum} to ${maximum}`;
  throw new CommandError(`--${flag}: ${range}.`);
};

export const parseId = (flag: string, flags: Flags): number => parseNumber(flag, flags[flag], 1);

/** Throws unless the flag is left out or is an http or https url. */
export const expectUrl = (flag: string, value: string | undefined): void => {
  if (value !== undefined && !/^https?:$/.test(URL.parse(value)?.protocol ?? ""))
    throw new CommandError(`--${flag} must be a url, such as https://example.com/hook.`);
};

/**
 * The absolute path of a file. A relative one starts at the caller's directory (INIT_CWD): npm runs commands
 * in the project's.
 */
export const parsePath = (flag: string, path: string | undefined): string => {
  if (path === undefined || path === "") throw new CommandError(`--${flag} must name a file.`);
  return resolve(process.env.INIT_CWD ?? process.cwd(), path);
};

export const parseTime = (flag: string, value: string | undefined): string => parse(flag, time, value);

/** The values that a flag takes, as help writes them. */
export const oneOf = ({ options }: { options: readonly string[] }): string => options.join("|");

/** The organization that `--org` names. */
export const findOrganization = async (flags: Flags): Promise<organizations.Organization> => {
  const id = parseId("org", flags);
  const organization = await organizations.get(id);
  if (organization === undefined || organization.deleting === true) throw noOrganization(id);
  return organization;
};

/**
 * The organization that `--org` names. Throws when its subscription has lapsed: a command would have no
 * effect until it is paid.
 */
export const findServed = async (flags: Flags): Promise<organizations.Organization> => {
  const organization = await findOrganization(flags);
  const refusal = billingRefusal(organization.billing, new Date());
  if (refusal !== undefined) throw new Refusal(refusal);
  return organization;
};

/** The user, not removed, that `--user` names in the organization that `--org` names. */
export const findUser = async (flags: Flags): Promise<{ org: number; user: users.User }> => {
  const { id: org } = await findOrganization(flags);
  const id = parseId("user", flags);
  const user = await users.get(org, id);
  if (user === undefined || user.removed) throw notFound("user", id);
  return { org, user };
};

export const noOrganization = (id: number): CommandError =>
  new CommandError(`There is no organization ${id}: "org list" shows those that there are.`);

export const notFound = (noun: string, id: number): CommandError =>
  new CommandError(`The organization has no ${noun} ${id}: "${noun} list" shows those that there are.`);

export type Page = { limit: number; offset: number };

const defaultLimit = 100;
const maximumLimit = 1000;

/** The page of a list that `--limit` and `--offset` ask for. */
export const parsePage = ({ limit, offset }: Flags): Page => ({
  limit: limit === undefined ? defaultLimit : parseNumber("limit", limit, 1, maximumLimit),
  offset: offset === undefined ? 0 : parseNumber("offset", offset),
});

/** The offset of the next page as a field of the result; nothing on the last page. */
export const nextPage = ({ limit, offset }: Page, hasMore: boolean): { nextOffset?: number } =>
  hasMore ? { nextOffset: offset + limit } : {};
