import { describe, expect, test } from "vitest";
import { expectEveryHeader, expectRefusal } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { createRecipient } from "./recipients.ts";
import { visitor } from "./signed-in.ts";

describe("200", () => {
  test("tells whose link it is, and what they said last, without their secret", async () => {
    const { id } = await createOrganization({ name: "Acme Recipients" });
    const { email, token } = await createRecipient(id);
    const reply = await visitor().get(`/recipients/${token}`);
    const body = { email, organization: { name: "Acme Recipients" }, consent: null };
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual(body);
    expectEveryHeader(reply);
    await visitor().post(`/recipients/${token}/unsubscribe`);
    expect((await visitor().get(`/recipients/${token}`)).body).toEqual({ ...body, consent: "refused" });
  });
});

describe("400", () => {
  test("a text that is no token", async () => {
    for (const token of ["x", "1.short.short", `${"1".repeat(17)}.${"a".repeat(22)}.${"a".repeat(22)}`])
      expectRefusal(await visitor().get(`/recipients/${token}`), 400, /^token: /);
  });
});

describe("404", () => {
  test("a token with another secret, and one of another organization", async () => {
    const [{ id }, other] = [await createOrganization(), await createOrganization()];
    const { token } = await createRecipient(id);
    const [, name] = token.split(".");
    for (const wrong of [`${id}.${name}.${"a".repeat(22)}`, token.replace(String(id), String(other.id))])
      expectRefusal(await visitor().get(`/recipients/${wrong}`), 404, /of no recipient/);
  });
});
