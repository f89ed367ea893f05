import { describe, expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { newLock } from "../../shared/findings/acknowledgements/record.ts";
import { createOrganization } from "../service/organization.ts";
import { createWithFindings, ended, findingCount, requestMany } from "./acknowledgement.ts";
import { expectEveryHeader, expectRefusal, timestamp, unknownId } from "./reply.ts";
import { signIn } from "./sign-in.ts";

describe("200", () => {
  test("after the end: what was done, for keys and users alike", async () => {
    const organization = await createWithFindings();
    const { api } = organization;
    const user = await signIn(organization);
    const reply = await requestMany(api, { filter: { acknowledged: false } });
    const shown = await ended(api, reply);
    expect(shown).toEqual({
      id: reply.body.id,
      status: "completed",
      matching: findingCount,
      acknowledged: findingCount,
      createdAt: timestamp,
      completedAt: timestamp,
    });
    expect((shown.completedAt as string) >= (shown.createdAt as string)).toBe(true);
    const again = await user.api.get(`/breaches/acknowledgements/${reply.body.id}`);
    expect(again).toMatchObject({ status: 200, body: shown });
    expectEveryHeader(again);
  });

  test("while it is in progress: how many are acknowledged so far, and no end", async () => {
    const { id: org, api } = await createOrganization();
    const id = 77;
    const slot = { id: 1, createdAt: "2026-01-01T00:00:00.000Z", block: 0, blockFrom: "2026" };
    const row = { id, status: "running", matching: 500, completedAt: null, slot };
    await table.put({ ...keys.acknowledgement(org, id), ...row });
    await table.put({ ...keys.acknowledgementLock(org), ...newLock(org, id), acknowledged: 60 });
    expect((await api.get(`/breaches/acknowledgements/${id}`)).body).toEqual({
      id,
      status: "running",
      matching: 500,
      acknowledged: 60,
      createdAt: slot.createdAt,
      completedAt: null,
    });
  });
});

describe("400", () => {
  test.each(["0", "x", "1.5", "01"])("an id of %s", async (id) => {
    const { api } = await createOrganization();
    expectRefusal(await api.get(`/breaches/acknowledgements/${id}`), 400, /^id/);
  });
});

describe("404", () => {
  test("an unknown id", async () => {
    const { api } = await createOrganization();
    expectRefusal(await api.get(`/breaches/acknowledgements/${unknownId}`), 404, /acknowledge/);
  });
});
