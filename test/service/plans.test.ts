import { expect, onTestFinished, test, vi } from "vitest";
import { startHibp } from "../../local/hibp/hibp.ts";
import { admin } from "./admin.ts";
import { createScanned } from "./scanned.ts";

test.each([
  ["pro", "yes", "yes"],
  ["high-rpm", "not in the plan", "not asked"],
] as const)(
  "a key of the plan %s is tested by asking each endpoint that it has",
  async (plan, listed, others) => {
    // Connects this process to the service, whose key the server takes.
    await admin("org list", {});
    const hibp = await startHibp({ directory: undefined, apiKey: "0".repeat(32), plan });
    onTestFinished(hibp.close);
    vi.stubEnv("HIBP_BASE_URL", hibp.url);
    const { endpoints } = await admin("upstream test", {});
    vi.unstubAllEnvs();
    const answers = (endpoints as { endpoint: string; answer: string }[]).map((each) => [
      each.endpoint,
      each.answer,
    ]);
    expect(Object.fromEntries(answers)).toEqual({
      "subscription/status": "yes",
      latestbreach: "yes",
      breaches: "yes",
      dataclasses: "yes",
      breachedaccount: "yes",
      "breachedaccount/range": "yes",
      subscribeddomains: listed,
      breacheddomain: others,
      stealerlogsbyemail: others,
      stealerlogsbywebsitedomain: others,
      stealerlogsbyemaildomain: others,
    });
  },
);

test("what HIBP says of the plan is shown", async () => {
  await createScanned();
  expect(await admin("upstream show", {})).toMatchObject({
    plan: "Pro 1",
    rpm: 12_000,
    includesKAnon: true,
    domains: expect.arrayContaining([expect.objectContaining({ name: "demo.example" })]),
  });
});
