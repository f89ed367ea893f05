/** What it costs to show the person of an address, by the product in this process. */
import { beforeEach, expect, test, vi } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { list } from "../../shared/monitoring/emails/email-list.ts";
import { type Email, emails } from "../../shared/monitoring/emails/record.ts";
import * as directories from "../../shared/people/directory.ts";
import { work } from "../../shared/people/follow/work.ts";
import { viewOf } from "../../shared/people/view.ts";
import { recordCapacity } from "../aws/table/engine.ts";
import { createOrganization, invocation, useWorkers } from "../scanning/in-process-workers.ts";
import { scimRequest } from "./scim-requests.ts";

useWorkers();
beforeEach(() => {
  vi.stubEnv("POWERTOOLS_LOG_LEVEL", "SILENT");
});

test("a person with a manager and groups takes four requests; an address by hand none", async () => {
  const org = await createOrganization({ "own.example": 1 });
  const [byHand] = (await list(org, { limit: 1, offset: 0 })).emails;
  const { token } = await directories.connect(org, "Entra", administrator);
  const add = async (path: string, body: object) =>
    (await scimRequest(token, "POST", path, body)).body.id as string;
  const manager = await add("Users", { userName: "charles", displayName: "Charles Babbage" });
  const userName = "ada@own.example";
  const ada = await add("Users", {
    userName,
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { manager: { value: manager } },
  });
  for (const displayName of ["A", "B"]) await add("Groups", { displayName, members: [{ value: ada }] });
  await work({ organizationId: org }, invocation());
  const all = (await list(org, { limit: 10, offset: 0 })).emails;
  const rowOf = async (id: number | undefined) => (await emails.get(org, id ?? 0)) as Email;
  const [hand, named] = [
    await rowOf(byHand?.id),
    await rowOf(all.find(({ email }) => email === userName)?.id),
  ];
  const capacity = recordCapacity();
  capacity.take();
  expect(await viewOf(org, hand)).toEqual({ person: null, leftAt: null, history: [] });
  expect(capacity.take()).toMatchObject({ calls: 0 });
  expect(await viewOf(org, named)).toMatchObject({
    person: { manager: "Charles Babbage", groups: ["A", "B"] },
  });
  // The address and the directories at once, then the person, then manager and groups.
  expect(capacity.take()).toMatchObject({ calls: 4, readUnits: 6, writeUnits: 0 });
});
