import { setTimeout } from "node:timers/promises";
import { serveOnLoopback } from "../loopback.ts";
import { inventedBreach } from "./invented-breach.ts";

/**
 * A server with the API of Have I Been Pwned that can be made to misbehave; `url` is for the option
 * `--hibp-url`.
 */
export type HibpServer = {
  url: string;
  /** Address to the names of its breaches. */
  accounts: Record<string, string[]>;
  catalog: ReturnType<typeof inventedBreach>[];
  /** Domains that the subscription covers. */
  covered: string[];
  /** By address, the websites whose logins stealer logs have. */
  stolenLogins: Record<string, string[]>;
  rpm: number;
  /** Milliseconds until a request is answered. */
  latency: number;
  /** The failure with which a path (after /api/v3/) is answered; undefined: it is answered as usual. */
  fail: (path: string) => { status: number; headers?: Record<string, string>; body?: string } | undefined;
  /** The requested paths (after /api/v3/) and when they came, in milliseconds since the epoch. */
  requests: { path: string; at: number }[];
  close: () => Promise<void>;
};

export const startHibpServer = async (): Promise<HibpServer> => {
  const server = await serveOnLoopback(async (request, response) => {
    const [path = ""] = (request.url ?? "").replace(/^\/api\/v3\//, "").split("?");
    hibp.requests.push({ path, at: Date.now() });
    if (hibp.latency > 0) await setTimeout(hibp.latency);
    const failure = hibp.fail(path);
    const [status, body] = answerTo(hibp, path);
    response.writeHead(failure?.status ?? status, {
      "content-type": "application/json",
      ...failure?.headers,
    });
    response.end(failure === undefined ? body && JSON.stringify(body) : failure.body);
  });
  const hibp: HibpServer = {
    url: `${server.url}/api/v3`,
    accounts: {},
    catalog: ["Alpha", "Beta"].map((name) => inventedBreach(name)),
    covered: [],
    stolenLogins: {},
    rpm: 6000,
    latency: 0,
    fail: () => undefined,
    requests: [],
    close: server.close,
  };
  return hibp;
};

const answerTo = (hibp: HibpServer, path: string): [number, unknown?] => {
  const [resource, argument = ""] = path.split("/").map(decodeURIComponent);
  switch (resource) {
    case "breaches":
      return [200, hibp.catalog];
    case "latestbreach":
      // Those that a test adds come last.
      return hibp.catalog.length === 0 ? [404] : [200, hibp.catalog.at(-1)];
    case "subscription":
      return [200, { SubscriptionName: "Test", Rpm: hibp.rpm, IncludesStealerLogs: true }];
    case "subscribeddomains":
      return [200, hibp.covered.map((DomainName) => ({ DomainName }))];
    case "breacheddomain": {
      if (!hibp.covered.includes(argument)) return [403];
      const aliases = Object.entries(hibp.accounts)
        .filter(([address, names]) => names.length > 0 && address.endsWith(`@${argument}`))
        .map(([address, names]) => [address.slice(0, address.lastIndexOf("@")), names]);
      return aliases.length === 0 ? [404] : [200, Object.fromEntries(aliases)];
    }
    case "stealerlogsbyemaildomain": {
      const stolen = Object.entries(hibp.stolenLogins).filter(([address]) =>
        address.endsWith(`@${argument}`),
      );
      return [200, Object.fromEntries(stolen.map(([address, sites]) => [address.split("@")[0], sites]))];
    }
    case "breachedaccount": {
      const names = hibp.accounts[argument] ?? [];
      return names.length === 0 ? [404] : [200, names.map((Name) => ({ Name }))];
    }
    default:
      return [404];
  }
};
