/**
 * The address of a viewer behind a trusted proxy, such as CloudFront: API Gateway sees only the proxy's addresses
 * (docs/deploy.md, "Put CloudFront in front"). Two headers tell it:
 *
 * - `X-Proxy-Secret`: a secret that only the proxy knows. The encrypted parameter TRUSTED_PROXY_SECRET_PARAMETER of
 *   Parameter Store holds it, or several joined by commas while one replaces another.
 * - `CloudFront-Viewer-Address`: address and port of the viewer, `198.51.100.10:46532` or `2001:db8::7334:46532`
 *   (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/adding-cloudfront-headers.html).
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import ipaddr from "ipaddr.js";
import { type Headers, headerValues } from "./credential.ts";

/** Shorter secrets could be guessed. */
const minimumCharacters = 32;

/** A replaced secret counts no longer than this, while the parameter can be read. */
const maximumAgeMilliseconds = 5 * 60_000;
/** A parameter that cannot be read is not asked for by every request. */
const pauseMilliseconds = 10_000;

/**
 * The viewer's address if a proxy that knows a secret tells it. Undefined: the address of the connection counts,
 * also where a header is missing, malformed or given twice, or no secret can be read. Never throws. Of IPv6 it is the
 * viewer's network (`networkOf`).
 */
export const viewerAddress = async (event: Headers): Promise<string | undefined> => {
  const parameter = process.env.TRUSTED_PROXY_SECRET_PARAMETER;
  if (parameter === undefined) return undefined;
  const secret = onlyValue(event, "x-proxy-secret");
  const viewer = readViewer(onlyValue(event, "cloudfront-viewer-address"));
  if (secret === undefined || viewer === undefined) return undefined;
  const digest = digestOf(secret);
  const isTrusted = (await digestsOf(parameter)).some((known) => timingSafeEqual(known, digest));
  return isTrusted ? viewer : undefined;
};

const onlyValue = (event: Headers, name: string): string | undefined => {
  const [value, ...others] = headerValues(event, name);
  return others.length === 0 ? value : undefined;
};

/** Neither brackets nor zones (`fe80::1%eth0`) are part of the header's form. */
const readViewer = (text = ""): string | undefined => {
  const [, address = ""] = /^([\d.]+|[\da-f:.]+):\d{1,5}$/i.exec(text) ?? [];
  if (!isIP(address)) return undefined;
  return networkOf(address);
};

/**
 * What an address counts as: itself, or of IPv6 the network `2001:db8:0:1::/64`, because one client usually has all of its addresses.
 * What is no address stays as it is.
 */
export const networkOf = (address: string): string => {
  if (!isIP(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`)}/64`;
};

/** Of one length, as `timingSafeEqual` needs it. */
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** `validUntil`: when the parameter is read again, in epoch milliseconds. */
let last: { digests: Buffer[]; validUntil: number } = { digests: [], validUntil: 0 };

/** When the parameter cannot be read, the log says so, and the secrets that were read before go on counting. */
const digestsOf = async (parameter: string): Promise<Buffer[]> => {
  if (Date.now() >= last.validUntil) {
    try {
      last = { digests: await read(parameter), validUntil: Date.now() + maximumAgeMilliseconds };
    } catch (error) {
      logUnreadable(parameter, error as Error);
      last = { digests: last.digests, validUntil: Date.now() + pauseMilliseconds };
    }
  }
  return last.digests;
};

let client: SSMClient | undefined;

const read = async (parameter: string): Promise<Buffer[]> => {
  client ??= new SSMClient({
    // A request waits for it.
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 500, requestTimeout: 1_000, throwOnRequestTimeout: true },
  });
  const command = new GetParameterCommand({ Name: parameter, WithDecryption: true });
  const { Parameter } = await client.send(command);
  const secrets = (Parameter?.Value ?? "").split(",").map((secret) => secret.trim());
  if (secrets.some(({ length }) => length < minimumCharacters)) throw new SecretTooShort();
  return secrets.map(digestOf);
};

class SecretTooShort extends Error {
  override name = "SecretTooShort";
}

/** Written without the logger's library, which every cold start of the authorizer would load. */
const logUnreadable = (parameter: string, { name }: Error): void => {
  const line = {
    level: "ERROR",
    message: "trusted proxy's secret cannot be read",
    timestamp: new Date().toISOString(),
    parameter,
    // Not the message, which may repeat what Parameter Store answered.
    error: name,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
};
