import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const template = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../docs/siem/sentinel/template.json"), "utf8"),
) as { resources: { type: string; properties: Record<string, string> }[] };

test("Sentinel's rules alert for an event in the hour of its first arrival alone", () => {
  const rules = template.resources.filter(({ type }) => type.endsWith("/alertRules"));
  expect(rules).toHaveLength(2);
  for (const { properties } of rules) {
    expect(properties).toMatchObject({ queryFrequency: "PT1H", queryPeriod: "P14D" });
    const steps = properties.query?.split(" | ") ?? [];
    const at = steps.indexOf("summarize First = min(Ingested), arg_max(Ingested, *) by Uid");
    expect(steps[at - 1]).toBe("extend Ingested = ingestion_time()");
    // What comes again would pass an earlier filter on when it came, and be the first then.
    expect(steps.slice(0, at - 1)).toEqual([
      "BreachMonitor_CL",
      expect.stringMatching(/^where ClassUid == \d+$/),
    ]);
    expect(steps[at + 1]).toMatch(/^where First > ago\(1h\) and /);
  }
});
