/** Groups that are as large as a company: what one member more costs, and what the limits of a reply leave out. */
import { marshall } from "@aws-sdk/util-dynamodb";
import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as directories from "../../shared/people/directory.ts";
import { recordCapacity } from "../aws/table/engine.ts";
import { store } from "../aws/table/stored-rows.ts";
import { createOrganization, useWorkers } from "../scanning/in-process-workers.ts";
import { scimRequest } from "./scim-requests.ts";

useWorkers();

test("a group of 50,000 is shown, and one of 150,000 without its members", async () => {
  const org = await createOrganization({ "own.example": 0 });
  const { token } = await directories.connect(org, "Entra", administrator);
  const send = (...request: [string, string, unknown?, Record<string, string>?]) =>
    scimRequest(token, ...request);
  const { body: group } = await send("POST", "Groups", { displayName: "All" });
  const path = `Groups/${group.id}`;
  // Ids of people whom nothing here reads.
  const join = (from: number, to: number) =>
    store(
      Array.from({ length: to - from }, (_, index) =>
        marshall(keys.groupMember(org, Number(group.id), 1_000_000_000 + from + index)),
      ),
    );
  await join(0, 50_000);
  const { status, body } = await send("GET", path);
  expect(status).toBe(200);
  expect(body.members).toHaveLength(50_000);
  const ada = await send("POST", "Users", { userName: "ada@own.example" });
  const capacity = recordCapacity();
  capacity.take();
  const Operations = [{ op: "add", path: "members", value: [{ value: ada.body.id }] }];
  expect((await send("PATCH", path, { Operations })).status).toBe(204);
  const { readUnits, writeUnits } = capacity.take();
  expect(readUnits).toBeLessThan(10);
  expect(writeUnits).toBeLessThan(10);

  await join(50_000, 150_000);
  expect(await send("GET", path)).toMatchObject({ status: 400, body: { scimType: "tooMany" } });
  const without = { excludedAttributes: "members" };
  expect(await send("GET", path, undefined, without)).toMatchObject({ body: { displayName: "All" } });
  const list = await send("GET", "Groups", undefined, without);
  expect(list.body).toMatchObject({ totalResults: 1, itemsPerPage: 1 });
});
