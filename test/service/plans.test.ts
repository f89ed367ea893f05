import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalService } from "../../local/harness/service.ts";
import { admin } from "./admin.ts";
import { createOrganization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { scan } from "./scan.ts";

let service: LocalService;

beforeAll(async () => {
  service = await startOwnService(["--memory", "--plan", "high-rpm"]);
});

afterAll(async () => {
  await service?.stop();
});

const answersOf = async (apiUrl?: string): Promise<Record<string, string>> => {
  const { endpoints } = await admin("upstream test", {}, apiUrl);
  return Object.fromEntries(
    (endpoints as { endpoint: string; answer: string }[]).map(({ endpoint, answer }) => [endpoint, answer]),
  );
};

const always = {
  "subscription/status": "yes",
  latestbreach: "yes",
  breaches: "yes",
  dataclasses: "yes",
  breachedaccount: "yes",
  "breachedaccount/range": "yes",
};

describe("a High RPM key", () => {
  test("looks up the addresses of every domain, and the command line says why", async () => {
    const { id, domainId, api } = await createOrganization({}, { apiUrl: service.apiUrl });
    await api.post("/emails", { email: "ada@demo.example", domainId });
    expect(await scan(api)).toMatchObject({ status: "completed", newBreachesFound: 3, errorMessage: null });
    expect((await admin("domain list", { org: id }, service.apiUrl)).domains).toMatchObject([
      { scannedBy: "address by address: the plan has no domain search" },
    ]);
    expect(await admin("upstream show", {}, service.apiUrl)).toMatchObject({
      plan: "High RPM 12000",
      rpm: 12_000,
      includesKAnon: true,
      domainSearch: "missing",
      domains: [],
    });
  });

  test("is tested by asking each endpoint that its plan has", async () => {
    expect(await answersOf(service.apiUrl)).toEqual({
      ...always,
      subscribeddomains: "not in the plan",
      breacheddomain: "not asked",
      stealerlogsbyemail: "not asked",
      stealerlogsbywebsitedomain: "not asked",
      stealerlogsbyemaildomain: "not asked",
    });
  });
});

test("a Pro key is tested by asking all endpoints", async () => {
  expect(await answersOf()).toEqual({
    ...always,
    subscribeddomains: "yes",
    breacheddomain: "yes",
    stealerlogsbyemail: "yes",
    stealerlogsbywebsitedomain: "yes",
    stealerlogsbyemaildomain: "yes",
  });
});
