/**
 * Signature Version 4, as AWS describes it ("Create a signed AWS API request" in the IAM User Guide). Written
 * without the AWS SDK, because functions sign with the SDK's code: only other code notices when a bundle
 * breaks it.
 */
import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Refused } from "./refusal.ts";

/** A request as it arrived. `url` is the path with the query, still encoded. */
export type SignedRequest = { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer };

/** What an Authorization header says. */
export type Authorization = {
  accessKeyId: string;
  /** Of the signature's scope: `20150830`, `us-east-1`, `iam`. */
  date: string;
  region: string;
  service: string;
  /** Names in lower case. */
  signedHeaders: readonly string[];
  signature: string;
};

const algorithm = "AWS4-HMAC-SHA256";

/** Undefined unless the header is a signature of version 4. */
export const readAuthorization = (header = ""): Authorization | undefined => {
  const [, scope = "", names = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=([^,\s]+), *SignedHeaders=([^,\s]+), *Signature=([0-9a-f]{64})$/.exec(
      header,
    ) ?? [];
  const [accessKeyId, date, region, service, end, ...more] = scope.split("/");
  if (!accessKeyId || !date || !region || !service || end !== "aws4_request" || more.length > 0)
    return undefined;
  return { accessKeyId, date, region, service, signedHeaders: names.split(";"), signature };
};

/** AWS takes a request for this long after it was signed, and for as long before. */
const validMilliseconds = 5 * 60_000;

/** Throws `Refused` unless the request was signed with this secret for the region, a moment ago, and as a whole. */
export const verify = (
  request: SignedRequest,
  authorization: Authorization,
  secretAccessKey: string,
  region: string,
): void => {
  const { service, signedHeaders } = authorization;
  const refuse = (message: string): never => {
    throw new Refused(service, "InvalidSignatureException", message);
  };
  const mustBeSigned = Object.keys(request.headers).filter(
    (name) => name === "host" || name.startsWith("x-amz-"),
  );
  const missing = mustBeSigned.find((name) => !signedHeaders.includes(name));
  if (missing !== undefined) refuse(`'${missing}' must be a 'SignedHeader' in the AWS Authorization.`);
  if (authorization.region !== region)
    refuse(`Credential should be scoped to a valid region, not '${authorization.region}'.`);
  const time = request.headers["x-amz-date"]?.toString() ?? "";
  const [, day, clock] = /^(\d{8})T(\d{6})Z$/.exec(time) ?? [];
  if (day === undefined || day !== authorization.date)
    refuse(`Date in Credential scope does not match ${time}.`);
  const iso = `${day}T${clock}`.replace(/^(....)(..)(..)T(..)(..)(..)$/, "$1-$2-$3T$4:$5:$6Z");
  // Not a time is not near either.
  if (!(Math.abs(Date.now() - Date.parse(iso)) <= validMilliseconds)) refuse(`Signature expired: ${time}.`);
  const expected = Buffer.from(signatureOf(request, authorization, secretAccessKey));
  if (!timingSafeEqual(expected, Buffer.from(authorization.signature))) {
    refuse(
      "The request signature we calculated does not match the signature you provided. Check your " +
        "AWS Secret Access Key and signing method. Consult the service documentation for details.",
    );
  }
};

/** The signature that the request must have, in hexadecimal. */
export const signatureOf = (
  { method, url, headers, body }: SignedRequest,
  { date, region, service, signedHeaders }: Omit<Authorization, "accessKeyId" | "signature">,
  secretAccessKey: string,
): string => {
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  const canonicalRequest = [
    method,
    // Every service but S3 encodes the path once more.
    path.split("/").map(encode).join("/"),
    canonicalQuery(query),
    ...signedHeaders.map(
      (name) =>
        `${name}:${String(headers[name] ?? "")
          .trim()
          .replace(/ +/g, " ")}`,
    ),
    "",
    signedHeaders.join(";"),
    sha256(body),
  ].join("\n");
  const scope = [date, region, service, "aws4_request"];
  const text = [algorithm, headers["x-amz-date"], scope.join("/"), sha256(canonicalRequest)].join("\n");
  return hmac(signingKey(scope, `AWS4${secretAccessKey}`), text).toString("hex");
};

/**
 * By secret and scope: a key is good for a day, and takes most of the hashing. An HMAC with a key object
 * takes a sixth of the time of one with the key's bytes.
 */
const signingKeys = new Map<string, KeyObject>();

const signingKey = (scope: readonly string[], secret: string): KeyObject => {
  const name = [secret, ...scope].join("/");
  const key =
    signingKeys.get(name) ??
    scope.reduce((outer, part) => createSecretKey(hmac(outer, part)), createSecretKey(Buffer.from(secret)));
  signingKeys.set(name, key);
  return key;
};

const canonicalQuery = (query: string): string =>
  [...new URLSearchParams(query)]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([name, value], [other, otherValue]) => compare(name, other) || compare(value, otherValue))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Percent-encodes all but the unreserved characters of RFC 3986. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

const hmac = (key: KeyObject, data: string): Buffer => createHmac("sha256", key).update(data).digest();
