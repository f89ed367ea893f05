import dns from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Where an outbound request may go: public HTTPS only, so that nobody can use this service to reach what only it can
 * reach (SSRF). Used when a channel is written and again right before every send.
 */
export type Destination = {
  /** As WHATWG parses it; a name's trailing dot is taken off, because TLS names have none. */
  url: URL;
  host: { kind: "address"; address: string } | { kind: "name"; name: string };
  /** The operator allows this origin (OUTBOUND_ALLOWED_ORIGINS): any scheme, name and address. */
  exempt: boolean;
};

export type ResolvedAddress = { address: string; family: 4 | 6 };

/** `reason` is a short phrase for people. It never contains the url or a part of it. */
export type Refusal = { ok: false; reason: string };

const maximumUrlLength = 2048;

const addressNotPublic = "destination is not public";

/** Parses a url by the rules that need no DNS. */
export const parseDestination = (raw: string): ({ ok: true } & Destination) | Refusal => {
  if (raw.length > maximumUrlLength) return refuse(`url is longer than ${maximumUrlLength} characters`);
  // WHATWG's parser silently drops or converts these, so what a person reads would not be what is called.
  if (/[\s\\\p{Cc}\p{Cf}\p{Cs}]/u.test(raw))
    return refuse("url contains a space, backslash or control character");

  const authority = /^https?:\/\/([^/?#]+)/i.exec(raw)?.[1];
  if (authority === undefined) return refuse("url must start with https:// and a host");
  if (authority.includes("@")) return refuse("url contains credentials");
  if (authority.includes("%")) return refuse("host contains a percent sign");

  const url = URL.parse(raw);
  if (url === null) return refuse("url is not valid");

  const exempt = isAllowedOrigin(url.origin);
  if (!exempt) {
    if (url.protocol !== "https:") return refuse("url must start with https://");
    // Empty is 443. Below 1024 live other services (22, 25, 80 ...), none of them HTTPS.
    if (url.port !== "" && Number(url.port) < 1024) return refuse("port is not allowed");
  }

  const address = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) !== 0) {
    const written = authority.replace(/:\d*$/, "").toLowerCase();
    if (written !== url.hostname) return refuse("address is not in its canonical form");
    if (!exempt && !isPublicAddress(address)) return refuse(addressNotPublic);
    return { ok: true, url, host: { kind: "address", address }, exempt };
  }

  const name = url.hostname.replace(/\.$/, "");
  if (!exempt && !isHostName(name)) return refuse("host is not a valid public name");
  if (!exempt && isReservedName(name)) return refuse("host is a reserved name");
  url.hostname = name;
  return { ok: true, url, host: { kind: "name", name }, exempt };
};

/**
 * Finds the addresses of a destination, once. Refuses if any of them is not public: a name that also points inside
 * is an attack or a mistake. Connect to exactly these addresses, or the name can change in between (rebinding).
 */
export const resolveDestination = async (
  destination: Destination,
  { signal }: { signal: AbortSignal },
): Promise<{ ok: true; addresses: ResolvedAddress[] } | Refusal> => {
  const addresses = await findAddresses(destination, signal);
  if (signal.aborted) return refuse("timeout");
  if (addresses.length === 0) return refuse("name does not resolve");
  if (!destination.exempt && !addresses.every(({ address }) => isPublicAddress(address))) {
    return refuse(addressNotPublic);
  }
  return { ok: true, addresses };
};

/**
 * Whether an address, in strict notation, belongs to a host of the public internet. IPv6 is judged by what is known to
 * be public, not by what is known to be special, so that notations not thought of yet are refused.
 */
export const isPublicAddress = (address: string): boolean => {
  // ipaddr.js alone also reads 0x7f.1 and fe80::1%lo.
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 ? address !== azureWireServer : isGlobalUnicast(parsed);
};

/** Azure's metadata and DNS service, within an ordinary public range. */
const azureWireServer = "168.63.129.16";

/** The only IPv6 space from which addresses are assigned (IANA). Leaves out IPv4-mapped, -compatible and NAT64. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

const isGlobalUnicast = (address: ipaddr.IPv6): boolean => {
  // ISATAP (RFC 5214): the last 32 bits are an IPv4 address, under any prefix.
  const isIsatap = ((address.parts[4] ?? 0) & ~0x0200) === 0 && address.parts[5] === 0x5efe;
  return address.match(globalUnicast) && !isIsatap;
};

/** RFC 1035's lengths, RFC 1123's letters, and the underscore, which real host names contain. */
const isHostName = (name: string): boolean => {
  const labels = name.split(".");
  return (
    name.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label)) &&
    /^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(labels.at(-1) ?? "")
  );
};

/** Top-level names that are not of the public DNS: RFC 6761, 6762 (appendix G), 7686, 8375, 9476, and ICANN's internal. */
const reservedTopLevelNames = new Set(
  "alt arpa corp example home internal intranet invalid lan local localdomain localhost onion private test".split(
    " ",
  ),
);

const isReservedName = (name: string): boolean =>
  reservedTopLevelNames.has(name.slice(name.lastIndexOf(".") + 1));

/** OUTBOUND_ALLOWED_ORIGINS: comma-separated origins, for receivers on a developer's machine. Not set when deployed. */
const isAllowedOrigin = (origin: string): boolean => {
  const allowed = process.env.OUTBOUND_ALLOWED_ORIGINS ?? "";
  return allowed.split(",").some((entry) => URL.parse(entry.trim())?.origin === origin);
};

const findAddresses = async (
  { host, exempt }: Destination,
  signal: AbortSignal,
): Promise<ResolvedAddress[]> => {
  if (host.kind === "address") return [{ address: host.address, family: isIP(host.address) as 4 | 6 }];
  return exempt ? lookUpOnThisMachine(host.name, signal) : queryNameServers(host.name, signal);
};

/** Asks for A and AAAA. Unlike the system's look-up, this can be cancelled and knows no hosts file or search domain. */
const queryNameServers = async (name: string, signal: AbortSignal): Promise<ResolvedAddress[]> => {
  const resolver = new dns.Resolver({ timeout: 1500, tries: 2 });
  // Those of this process; a new resolver starts with the system's.
  resolver.setServers(dns.getServers());
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    // One family's failure leaves the other's answer: many name servers answer AAAA with an error.
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    // IPv4 first: Lambda outside of a VPC has no IPv6 route.
    return [
      ...(ipv4.status === "fulfilled" ? ipv4.value.map((address) => ({ address, family: 4 as const })) : []),
      ...(ipv6.status === "fulfilled" ? ipv6.value.map((address) => ({ address, family: 6 as const })) : []),
    ];
  } finally {
    signal.removeEventListener("abort", cancel);
  }
};

/** For allowed origins such as http://localhost:4000, which only the hosts file knows. */
const lookUpOnThisMachine = async (name: string, signal: AbortSignal): Promise<ResolvedAddress[]> => {
  const aborted = new Promise<[]>((resolve) =>
    signal.addEventListener("abort", () => resolve([]), { once: true }),
  );
  const found = dns.lookup(name, { all: true, order: "ipv4first" }).catch(() => []);
  const addresses = await Promise.race([found, aborted]);
  return addresses.map(({ address, family }) => ({ address, family: family as 4 | 6 }));
};

const refuse = (reason: string): Refusal => ({ ok: false, reason });
