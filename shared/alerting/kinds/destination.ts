import dns from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Where an outbound request may go: public HTTPS only, so that nobody can use this service to reach hosts
 * that only the service can reach (SSRF). Checked when a channel is written, and again right before every
 * send.
 */
export type Destination = {
  /** The hostname by the WHATWG rules, without a trailing dot, because names in TLS have none. */
  url: URL;
  host: { kind: "address"; address: string } | { kind: "name"; name: string };
  /** The operator allows this origin (OUTBOUND_ALLOWED_ORIGINS), whatever its scheme, name and address. */
  exempt: boolean;
};

export type ResolvedAddress = { address: string; family: 4 | 6 };

/** `reason` is a short phrase for people. It never contains the url or a part of it. */
type Refusal = { ok: false; reason: string };

const maximumUrlLength = 2048;

const addressNotPublic = "destination is not public";

/** Parses a url and checks the rules that need no DNS. */
export const parseDestination = (raw: string): ({ ok: true } & Destination) | Refusal => {
  if (raw.length > maximumUrlLength) return refuse(`url is longer than ${maximumUrlLength} characters`);
  // The WHATWG parser silently drops or converts these characters: the url called would differ from the url
  // read.
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
    // An empty port is 443. The other ports below 1024 belong to services that are not HTTPS, such as SSH and
    // SMTP.
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
 * Resolves a destination once. Refuses when any address is not public: a name that also points to an internal
 * host is an attack or a mistake. Callers connect to exactly these addresses, because the name may resolve to
 * others a moment later (DNS rebinding).
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
 * Whether an address, in strict notation, belongs to a host of the public internet. IPv6 is an allow-list of
 * public space. A deny-list of special ranges would let unknown ways of embedding IPv4 addresses pass.
 */
export const isPublicAddress = (address: string): boolean => {
  // ipaddr.js would also accept 0x7f.1 and fe80::1%lo.
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 ? address !== azureWireServer : isGlobalUnicast(parsed);
};

/** Azure's metadata and DNS service: an internal host with an address from an ordinary public range. */
const azureWireServer = "168.63.129.16";

/** The only IPv6 space that IANA assigns. Excludes IPv4-mapped, IPv4-compatible and NAT64 addresses. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

const isGlobalUnicast = (address: ipaddr.IPv6): boolean => {
  // ISATAP (RFC 5214): the last 32 bits are an IPv4 address, under any prefix.
  const isIsatap = ((address.parts[4] ?? 0) & ~0x0200) === 0 && address.parts[5] === 0x5efe;
  return address.match(globalUnicast) && !isIsatap;
};

/**
 * The lengths of RFC 1035 and the characters of RFC 1123, plus the underscore, which real host names contain.
 */
const isHostName = (name: string): boolean => {
  const labels = name.split(".");
  return (
    name.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label)) &&
    /^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(labels.at(-1) ?? "")
  );
};

/** Top-level names outside the public DNS: RFC 6761, 6762 (appendix G), 7686, 8375, 9476, and `internal`. */
const reservedTopLevelNames = new Set(
  "alt arpa corp example home internal intranet invalid lan local localdomain localhost onion private test".split(
    " ",
  ),
);

const isReservedName = (name: string): boolean =>
  reservedTopLevelNames.has(name.slice(name.lastIndexOf(".") + 1));

/** OUTBOUND_ALLOWED_ORIGINS: origins of local receivers, comma-separated. Not set when deployed. */
const isAllowedOrigin = (origin: string): boolean => {
  const allowed = process.env.OUTBOUND_ALLOWED_ORIGINS ?? "";
  return allowed.split(",").some((entry) => URL.parse(entry.trim())?.origin === origin);
};

const findAddresses = async (
  { host, exempt }: Destination,
  signal: AbortSignal,
): Promise<ResolvedAddress[]> => {
  if (host.kind === "address") return [{ address: host.address, family: isIP(host.address) as 4 | 6 }];
  return exempt ? lookUpOnThisMachine(host.name) : queryNameServers(host.name, signal);
};

/** Queries A and AAAA records. Unlike the system's look-up, it can be cancelled and reads no hosts file. */
const queryNameServers = async (name: string, signal: AbortSignal): Promise<ResolvedAddress[]> => {
  const resolver = new dns.Resolver({ timeout: 1500, tries: 2 });
  // A new resolver uses the system's servers; this process may have been given others.
  resolver.setServers(dns.getServers());
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    // Many name servers answer AAAA queries with an error, which must not hide the A records.
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    // IPv4 first, because Lambda outside of a VPC has no IPv6 route.
    return [
      ...(ipv4.status === "fulfilled" ? ipv4.value.map((address) => ({ address, family: 4 as const })) : []),
      ...(ipv6.status === "fulfilled" ? ipv6.value.map((address) => ({ address, family: 6 as const })) : []),
    ];
  } finally {
    signal.removeEventListener("abort", cancel);
  }
};

/** Resolves names of allowed origins such as http://localhost:4000, which only the hosts file knows. */
const lookUpOnThisMachine = async (name: string): Promise<ResolvedAddress[]> => {
  const addresses = await dns.lookup(name, { all: true, order: "ipv4first" }).catch(() => []);
  return addresses.map(({ address, family }) => ({ address, family: family as 4 | 6 }));
};

const refuse = (reason: string): Refusal => ({ ok: false, reason });
