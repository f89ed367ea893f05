import { describe, expect, test } from "vitest";
import { hashOf, mintApiKey, mintSession } from "../../shared/access/keys/secret.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { createKeyClient, createOrganization } from "../service/organization.ts";
import { anonymous, expectUnauthenticated, getWith } from "./credentials.ts";
import { requestEveryEndpoint } from "./every-endpoint.ts";

describe("an API key", () => {
  test("is displayed once only, at creation", async () => {
    const { id: org, key } = await createOrganization();
    expect(key).toMatch(/^bms_[0-9A-Za-z]{38}$/);
    const listed = await admin("key list", { org });
    expect(listed.keys).toMatchObject([{ preview: key.slice(0, 16) }]);
    expect(JSON.stringify(listed)).not.toContain(key);
    expect(JSON.stringify(listed)).not.toContain(hashOf(key));
  });

  test("has no scopes: all keys and sessions of an organization have the same access", async () => {
    const organization = await createOrganization();
    const { api, domainId } = organization;
    const user = await signedIn(organization.id);
    await api.post("/emails", { email: "ada@demo.example", domainId });
    await user.v1.post("/emails", { email: "alan@demo.example", domainId });
    for (const path of ["/emails", "/breaches", "/alert-configs", "/scans", "/activity"]) {
      const { retention: _, ...seen } = (await user.v1.get(path)).body;
      expect((await api.get(path)).body).toMatchObject(seen);
    }
    const config = { recipients: ["a@acme.example"] };
    const channel = await user.v1.post("/alert-configs", { channel: "email", config });
    const path = `/alert-configs/${channel.body.id}`;
    const second = await createKeyClient(organization.id);
    for (const { patch } of [api, user.v1, second]) expect((await patch(path, {})).status).toBe(200);
    expect((await second.delete(path)).status).toBe(200);
  });

  test("that is revoked fails the very next request; other keys still work", async () => {
    const { id: org, api, keyId } = await createOrganization();
    const second = await createKeyClient(org);
    expect((await api.get("/emails")).status).toBe(200);
    await admin("key revoke", { org, key: keyId });
    expectUnauthenticated(await api.get("/emails"));
    expectUnauthenticated(await api.post("/scans"));
    expect((await second.get("/emails")).status).toBe(200);
  });

  test("of an organization that is being deleted fails", async () => {
    const organization = await createOrganization();
    const user = await signedIn(organization.id);
    await admin("org delete", { org: organization.id, name: "Test" });
    expectUnauthenticated(await organization.api.get("/emails"));
    expectUnauthenticated(await user.v1.get("/emails"));
  });

  test("is accepted with the scheme in any case and more than one space", async () => {
    const { key } = await createOrganization();
    for (const authorization of [`bearer ${key}`, `BEARER ${key}`, `bEaReR    ${key}`, `Bearer ${key}  `]) {
      expect((await getWith({ authorization })).status, authorization.slice(0, 12)).toBe(200);
    }
    expect((await getWith({ AUTHORIZATION: `Bearer ${key}` })).status).toBe(200);
  });

  test("that is malformed, unknown or not alone is 401", async () => {
    const { key, id } = await createOrganization();
    const replaced = (index: number) =>
      key.slice(0, index) + (key[index] === "x" ? "y" : "x") + key.slice(index + 1);
    const values = [
      "Bearer",
      "Bearer ",
      "Bearer x",
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key}x`,
      `Bearer ${key.toLowerCase()}`,
      `Bearer ${key.slice(4)}`,
      `Bearer "${key}"`,
      `Bearer ${key} ${key}`,
      `Bearer ${key}, Bearer ${key}`,
      `Bearer Bearer ${key}`,
      // Keys with a wrong checksum: a character of the checksum, the random part, the organization's part is
      // changed.
      `Bearer ${replaced(41)}`,
      `Bearer ${replaced(20)}`,
      `Bearer ${replaced(8)}`,
      // Well-formed keys that were never created: of this organization, of one that does not exist, and
      // others.
      `Bearer ${mintApiKey(id)}`,
      `Bearer ${mintApiKey(987_654_321)}`,
      `Bearer bms_${"0".repeat(38)}`,
      `Bearer ${mintSession(id, 1)}`,
      `Bearer ${"x".repeat(5000)}`,
      key,
      `Token ${key}`,
      `Basic ${Buffer.from(`${key}:`).toString("base64")}`,
      "",
    ];
    const replies = await Promise.all(values.map((authorization) => getWith({ authorization })));
    for (const [index, reply] of replies.entries()) {
      expect([values[index]?.slice(0, 30), reply.status]).toEqual([values[index]?.slice(0, 30), 401]);
      expectUnauthenticated(reply);
    }
  });

  test("in a query parameter, a body or a cookie is no key", async () => {
    const { key } = await createOrganization();
    const api = anonymous();
    expectUnauthenticated(await api.get(`/emails?authorization=Bearer%20${key}&api_key=${key}`));
    expectUnauthenticated(await getWith({ cookie: `session=${key}` }));
    expectUnauthenticated(await getWith({ "x-api-key": key }));
  });

  test("sent in two Authorization headers is 401, even if both are valid", async () => {
    const [one, other] = await Promise.all([createOrganization(), createOrganization()]);
    const { cookie } = await signedIn(one.id);
    const [first, second] = [`Bearer ${one.key}`, `Bearer ${other.key}`];
    const basic = "Basic dXNlcjpwYXNz";
    for (const authorization of [
      [first, second],
      [first, first],
      [basic, first],
      [first, basic],
    ]) {
      expectUnauthenticated(await getWith({ authorization }));
      expectUnauthenticated(await getWith({ authorization, cookie }));
    }
  });
});

describe("no credentials", () => {
  test("every endpoint is 401 with WWW-Authenticate and the headers of every reply", async () => {
    const replies = await requestEveryEndpoint(anonymous());
    for (const reply of replies) expectUnauthenticated(reply);
  });
});
