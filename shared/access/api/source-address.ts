/**
 * The address that a request counts against. Behind a trusted proxy, such as CloudFront, API Gateway sees
 * only the proxy's addresses (docs/deploy.md, "Put CloudFront in front"). Two headers tell the viewer's:
 *
 * - `X-Proxy-Secret`: a secret that only the proxy knows. TRUSTED_PROXY_SHA256 has its hash in hexadecimal
 *   digits, or several joined by commas while one secret replaces another.
 * - `CloudFront-Viewer-Address`: address and port of the viewer, `198.51.100.10:46532` or
 *   `2001:db8::7334:46532`
 *   (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/adding-cloudfront-headers.html).
 */
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import type { APIGatewayProxyEvent } from "aws-lambda";
import ipaddr from "ipaddr.js";
import { type Headers, headerValues } from "./credential.ts";

/** As `networkOf`. */
export const sourceAddress = (
  event: Headers & { requestContext: { identity: { sourceIp: string } } },
): string => viewerAddress(event) ?? networkOf(event.requestContext.identity.sourceIp);

/**
 * The viewer's address if a proxy that knows a secret tells it. Undefined: the address of the connection
 * counts, also where a header is missing, malformed or given twice.
 */
export const viewerAddress = (event: Headers): string | undefined => {
  const secret = onlyValue(event, "x-proxy-secret");
  if (secret === undefined) return undefined;
  const hash = createHash("sha256").update(secret).digest("hex");
  const isTrusted = (process.env.TRUSTED_PROXY_SHA256 ?? "").split(",").includes(hash);
  return isTrusted ? readViewer(onlyValue(event, "cloudfront-viewer-address")) : undefined;
};

const onlyValue = (event: Headers, name: string): string | undefined => {
  const [value, ...rest] = headerValues(event, name);
  return rest.length === 0 ? value : undefined;
};

/** Neither brackets nor zones (`fe80::1%eth0`) are part of the header's form. */
const readViewer = (text = ""): string | undefined => {
  const [, address = ""] = /^([\da-f:.]+):\d{1,5}$/i.exec(text) ?? [];
  if (!isIP(address)) return undefined;
  return networkOf(address);
};

/**
 * The network that a request came from, as the activity log keeps it: the /24 of an IPv4 address, the /48 of an
 * IPv6 one, and never the whole address. The authorizer tells a trusted proxy's viewer. Undefined: unknown.
 */
export const sourceNetwork = ({
  requestContext: { authorizer, identity },
}: Pick<APIGatewayProxyEvent, "requestContext">): string | undefined => {
  const [address = ""] = String(authorizer?.viewerAddress ?? identity.sourceIp).split(/[/%]/);
  if (!isIP(address)) return undefined;
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4"
    ? `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/24`)}/24`
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/48`)}/48`;
};

/**
 * What an address counts as: itself, or of IPv6 the network `2001:db8:0:1::/64`, because one client usually
 * has all of its addresses. What is no address stays as it is.
 */
const networkOf = (address: string): string => {
  if (!isIP(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`)}/64`;
};
