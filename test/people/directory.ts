import { Pool } from "undici";
import { expect } from "vitest";
import { connected } from "./connected.ts";

// biome-ignore lint/suspicious/noExplicitAny: resources of SCIM
type Json = any;

export type ScimReply = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Json;
};

/** A fresh organization with a directory, and its SCIM as a client with the token sees it. */
export const createDirectory = async () => {
  const organization = await connected();
  const { url, token } = organization;
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin);

  /** Sends a body as it is. A header that is empty is not sent. */
  const send = async (
    method: string,
    path: string,
    { content, headers = {} }: { content?: string | undefined; headers?: Record<string, string> } = {},
  ): Promise<ScimReply> => {
    const given: Record<string, string> = {
      authorization: `Bearer ${token}`,
      ...(content !== undefined && { "content-type": "application/scim+json" }),
      ...headers,
    };
    const reply = await pool.request({
      method: method as "GET",
      path: `${pathname}${path}`,
      headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "")),
      ...(content !== undefined && { body: content }),
    });
    const text = await reply.body.text();
    const body = text === "" ? undefined : JSON.parse(text);
    return { status: reply.statusCode, headers: reply.headers, body };
  };
  const scim = (method: string, path: string, body?: object): Promise<ScimReply> =>
    send(method, path, { content: body && JSON.stringify(body) });
  /** The resources of a list. */
  const list = async (path: string): Promise<Json[]> => {
    const { status, body } = await send("GET", path);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.Resources;
  };
  return { ...organization, send, scim, list };
};
