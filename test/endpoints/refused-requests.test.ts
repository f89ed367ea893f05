import { expect, test } from "vitest";
import { keys, listKinds } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { createOrganization } from "../service/organization.ts";
import { unknownId } from "./reply.ts";

test("a request that is refused, or changes nothing, takes no id of any list", async () => {
  const { id: org, api, domainId } = await createOrganization();
  const email = "ada@demo.example";
  const { id } = (await api.post("/emails", { email, domainId })).body as { id: number };
  const heads = () => Promise.all(listKinds.map((kind) => table.get(keys.listHead(org, kind))));
  const before = await heads();
  const refused = [
    await api.post("/emails", { email, domainId }),
    await api.post("/emails", { email: "ada@other.example", domainId }),
    await api.post("/emails", { email, domainId: unknownId }),
    await api.patch(`/emails/${unknownId}`, { isActive: false }),
    await api.delete(`/emails?id=${unknownId}`),
    await api.post("/breaches/acknowledge", { id: unknownId, resolution: "handled" }),
    await api.patch(`/alert-configs/${unknownId}`, { isEnabled: false }),
    await api.delete(`/alert-configs/${unknownId}`),
  ];
  for (const { status } of refused) expect(status).toBeGreaterThanOrEqual(400);
  expect((await api.patch(`/emails/${id}`, { isActive: true })).status).toBe(200);
  expect(await heads()).toEqual(before);
});
