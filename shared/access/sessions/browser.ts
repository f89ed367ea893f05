import type { APIGatewayProxyEvent } from "aws-lambda";
import { credentialOf, headerValues } from "../api/credential.ts";
import { sourceNetwork } from "../api/source-address.ts";
import type { SessionName } from "./session.ts";

/**
 * Where somebody signs in: the browser, such as "Firefox on Windows", and its session, which the new one
 * replaces and nobody has looked up. `network`: as the activity log keeps it.
 */
export type Visit = {
  network?: string | undefined;
  browser?: string | undefined;
  replaced?: SessionName | undefined;
};

export const visitOf = (event: APIGatewayProxyEvent): Visit => {
  const credential = credentialOf(event);
  return {
    network: sourceNetwork(event),
    browser: browserOf(headerValues(event, "user-agent")[0]),
    replaced: credential !== "none" && credential.kind === "session" ? credential : undefined,
  };
};

/** Names as people know them, by what stands in the header. Others' names stand there too, so that the order counts. */
const browsers = [
  ["Edg", "Edge"],
  ["OPR", "Opera"],
  ["Firefox", "Firefox"],
  ["FxiOS", "Firefox"],
  ["Chrome", "Chrome"],
  ["CriOS", "Chrome"],
  ["Safari", "Safari"],
] as const;
const systems = [
  ["Android", "Android"],
  ["iPhone", "iOS"],
  ["iPad", "iOS"],
  ["Windows", "Windows"],
  ["Macintosh", "macOS"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
] as const;

const nameIn = (text: string, names: readonly (readonly [part: string, name: string])[]) =>
  names.find(([part]) => text.includes(part))?.[1];

/**
 * The browser and system that a User-Agent header names, such as "Firefox on Windows"; undefined if it names
 * no known browser.
 */
export const browserOf = (userAgent = ""): string | undefined => {
  const browser = nameIn(userAgent, browsers);
  const system = nameIn(userAgent, systems);
  return browser && (system === undefined ? browser : `${browser} on ${system}`);
};
