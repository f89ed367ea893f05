/** What clients of SCIM really send (shapes/), each to a directory of its own. */
import { describe, expect, test } from "vitest";
import { createDirectory, type ScimReply } from "./directory.ts";
import { entra } from "./shapes/entra.ts";
import { okta } from "./shapes/okta.ts";
import { others } from "./shapes/others.ts";
import { refused } from "./shapes/refused.ts";
import type { Json, Sent, Shape } from "./shapes/shape.ts";

const shapes = [...entra, ...okta, ...others, ...refused];
const errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error";

/** A new directory that knows what names in shapes stand for. */
const connect = async () => {
  const { url, token, send } = await createDirectory();
  const names = new Map([
    ["base", url],
    ["token", token],
  ]);
  const fill = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (whole, name) => names.get(name) ?? whole);
  const fillAll = (value: Json): Json => {
    if (typeof value === "string") return fill(value);
    if (Array.isArray(value)) return value.map(fillAll);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [fill(name), fillAll(each)]));
  };
  const ask = ({ method, path, body, raw, headers = {} }: Sent): Promise<ScimReply> => {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(fillAll(body)));
    return send(method, fill(path), { content, headers: fillAll(headers) });
  };
  return { ask, names, fillAll };
};

const successes: Record<string, number[]> = { POST: [201], DELETE: [204], PATCH: [200, 204] };

/** What holds for every reply, whatever was asked. */
const expectForm = (
  { method, status: expected, scimType }: Sent,
  { status, headers, body }: ScimReply,
): void => {
  if (expected === undefined) expect(successes[method] ?? [200], JSON.stringify(body)).toContain(status);
  else expect(status, JSON.stringify(body)).toBe(expected);
  if (status === 204) {
    expect(body).toBeUndefined();
    return;
  }
  expect(headers["content-type"]).toMatch(/^application\/scim\+json\b/);
  expect(JSON.stringify(body)).not.toContain("not-kept");
  if (status >= 400) {
    expect(body).toMatchObject({ schemas: [errorSchema], status: String(status) });
    expect(body.scimType).toBe(scimType);
    expect(body.detail).toMatch(/\w+ \w+/);
    return;
  }
  if (status === 201) expect(headers.location).toBe(body.meta.location);
  if (body.Resources !== undefined) expect(body.itemsPerPage).toBe(body.Resources.length);
};

/** `undefined` is what must not be there. */
const expectAtLeast = (actual: Json, wanted: Json, about: string): void => {
  if (typeof wanted !== "object" || wanted === null) {
    expect(actual, about).toEqual(wanted);
    return;
  }
  if (Array.isArray(wanted)) expect(actual, about).toHaveLength(wanted.length);
  for (const [name, each] of Object.entries(wanted)) expectAtLeast(actual?.[name], each, `${about} ${name}`);
};

const run = async ({ requests }: Shape): Promise<void> => {
  const { ask, names, fillAll } = await connect();
  for (const sent of requests) {
    const answer = await ask(sent);
    expectForm(sent, answer);
    if (sent.as !== undefined) names.set(sent.as, answer.body.id);
    const about = `${sent.method} ${sent.path}`;
    if (sent.reply !== undefined) expectAtLeast(answer.body, fillAll(sent.reply), about);
    for (const [path, state] of Object.entries(sent.after ?? {})) {
      const get = { method: "GET", path } as const;
      const now = await ask(get);
      expectForm(get, now);
      expectAtLeast(now.body, fillAll(state), `${about}, then ${path}`);
    }
  }
};

describe.concurrent("clients of SCIM:", () => {
  test.each(shapes.map((shape) => ({ ...shape })))("$client: $title", (shape) => run(shape));
});

test("the shapes are of many clients, each with its source", () => {
  expect(shapes.flatMap(({ requests }) => requests).length).toBeGreaterThan(150);
  expect(shapes.filter(({ source }) => !URL.canParse(source))).toEqual([]);
  expect(new Set(shapes.map(({ client, title }) => `${client}: ${title}`)).size).toBe(shapes.length);
});
