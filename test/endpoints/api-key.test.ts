import { describe, expect, test } from "vitest";
import { routes } from "../../functions/routes.ts";
import { hashOf, mintApiKey } from "../../shared/access/keys/secret.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { createClient } from "../service/client.ts";
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

  test("of full access may do what sessions of members may", async () => {
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

  test("of an organization that is being deleted fails", async () => {
    const organization = await createOrganization();
    const user = await signedIn(organization.id);
    await admin("org delete", { org: organization.id, name: "Test" });
    expectUnauthenticated(await organization.api.get("/emails"));
    expectUnauthenticated(await user.v1.get("/emails"));
  });

  // session-cookie.test.ts has the forms of the header.
  test("that was never created, is of no organization, or is malformed is 401", async () => {
    const { key, id } = await createOrganization();
    for (const header of ["authorization", "AUTHORIZATION"])
      expect((await getWith({ [header]: `Bearer ${key}` })).status).toBe(200);
    const values = [mintApiKey(id), mintApiKey(987_654_321), `${key}x`, "x".repeat(5000)];
    for (const value of values) expectUnauthenticated(await getWith({ authorization: `Bearer ${value}` }));
    expectUnauthenticated(await getWith({ authorization: key }));
  });

  test("in a query parameter, a body or a cookie is no key", async () => {
    const { key } = await createOrganization();
    const api = anonymous();
    expectUnauthenticated(await api.get(`/emails?authorization=Bearer%20${key}&api_key=${key}`));
    expectUnauthenticated(await getWith({ cookie: `session=${key}` }));
    expectUnauthenticated(await getWith({ "x-api-key": key }));
  });
});

describe("a key that only reads", () => {
  const createReader = async () => {
    const organization = await createOrganization();
    const { key } = await admin("key create", { org: organization.id, label: "Reader", access: "read" });
    return { ...organization, reader: createClient({ authorization: `Bearer ${key}` }) };
  };

  test.each(routes.map(({ method, path, endpoint }) => ({ method, path, endpoint })))(
    "may $method $path only if that is a GET",
    async ({ method, path, endpoint }) => {
      const { reader } = await createReader();
      const { status, body } = await reader.request(
        method,
        path.replace("{id}", "1"),
        "body" in endpoint ? { body: {} } : {},
      );
      if (method === "GET") return expect([200, 404]).toContain(status);
      expect({ status, body }).toEqual({
        status: 403,
        body: { error: expect.stringContaining("only reads"), code: "read_only_key" },
      });
    },
  );

  test("changes nothing by what would otherwise succeed", async () => {
    const { api, reader, domainId } = await createReader();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const config = { recipients: ["a@acme.example"] };
    const refused = [
      await reader.post("/emails", { email: "alan@demo.example", domainId }),
      await reader.post("/alert-configs", { channel: "email", config }),
      await reader.post("/scans"),
      await reader.post("/breaches/acknowledgements", { filter: {}, dryRun: true }),
      await reader.request("HEAD", "/emails"),
      await reader.request("PUT", "/nowhere"),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    expect((await reader.get("/emails")).body).toMatchObject({ total: 1 });
    expect((await reader.get("/scans")).body).toMatchObject({ total: 0 });
    expect((await reader.get("/alert-configs")).body).toMatchObject({ configs: [] });
  });
});

test("without credentials every endpoint is 401 with WWW-Authenticate", async () => {
  const replies = await requestEveryEndpoint(anonymous());
  for (const reply of replies) expectUnauthenticated(reply);
});
