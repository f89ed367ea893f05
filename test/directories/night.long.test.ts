/** People who come, and who all leave in one night: two thousand, or as many as NIGHT_PEOPLE says. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { activeCount } from "../../shared/access/billing/billing.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import * as directories from "../../shared/people/directory.ts";
import { work } from "../../shared/people/follow/work.ts";
import { recordCapacity } from "../aws/table/engine.ts";
import { createOrganization, invocation, useWorkers } from "../scanning/in-process-workers.ts";
import { scimRequest } from "./scim-requests.ts";

useWorkers();

beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.now() }));
afterAll(() => void vi.useRealTimers());

const people = Number(process.env.NIGHT_PEOPLE ?? 2_000);
const atOnce = 20;

test("all joiners are watched, and all leavers disabled, at a constant price", async () => {
  const org = await createOrganization({ "own.example": 0 });
  const { id, token } = await directories.connect(org, "Entra", administrator);
  const capacity = recordCapacity();
  const prices: Record<string, number> = {};
  const inTurns = async (
    what: string,
    act: (index: number) => Promise<{ status: number }>,
  ): Promise<void> => {
    capacity.take();
    const statuses = new Set<number>();
    for (let first = 0; first < people; first += atOnce) {
      // A directory has 1,500 requests a minute.
      if (first % 1_400 === 0) vi.setSystemTime(Date.now() + 60_000);
      const some = Array.from({ length: Math.min(atOnce, people - first) }, (_, at) => act(first + at));
      for (const { status } of await Promise.all(some)) statuses.add(status);
    }
    expect([...statuses].filter((status) => status > 201)).toEqual([]);
    prices[`${what}: write units of a request`] = capacity.take().writeUnits / people;
    const begun = performance.now();
    await work({ organizationId: org }, { ...invocation(), remainingSeconds: () => 600 });
    prices[`${what}: seconds of the worker`] = (performance.now() - begun) / 1_000;
    prices[`${what}: write units of what follows`] = capacity.take().writeUnits / people;
    expect(await table.query({ pk: keys.directoryTask(org, "").pk })).toEqual([]);
  };
  const ids: string[] = [];
  await inTurns("joiners", async (index) => {
    const reply = await scimRequest(token, "POST", "Users", {
      userName: `user${index}@own.example`,
      displayName: `User ${index}`,
    });
    ids[index] = reply.body.id as string;
    return reply;
  });
  expect(await activeCount(org)).toBe(people);
  await inTurns("leavers", (index) =>
    scimRequest(token, "PATCH", `Users/${ids[index]}`, {
      Operations: [{ op: "Replace", path: "active", value: "False" }],
    }),
  );
  expect(await activeCount(org)).toBe(0);
  const [listed] = (await directories.list(org)).directories;
  expect(listed).toMatchObject({
    id,
    users: people,
    activeUsers: 0,
    addresses: { watched: 0, disabled: people },
  });
  expect((await audit(org)).differences).toEqual([]);
  console.log(prices);
});
