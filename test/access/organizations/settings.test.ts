import { expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as settings from "../../../shared/access/organizations/organization.ts";
import * as deletion from "../../../shared/operations/deletion.ts";
import { useWorkers } from "../../scanning/in-process-workers.ts";
import { createOrganization } from "./accounts.ts";

useWorkers();

test("a change that meets the organization's deletion leaves no schedule", async () => {
  const org = await createOrganization();
  const scheduled: string[] = [];
  const changing = settings.changeSettings(org, { scanEvery: "week" }, administrator, async (every) => {
    if (scheduled.length === 0) await deletion.begin(org);
    scheduled.push(every);
    return null;
  });
  await expect(changing).rejects.toMatchObject({ refusal: "unauthenticated" });
  expect(scheduled).toEqual(["week", "never"]);
});
