import { describe, expect, test } from "vitest";
import { acknowledgeBreach } from "../../functions/acknowledge-breach/endpoint.ts";
import { addEmail } from "../../functions/add-email/endpoint.ts";
import { createAlertConfig } from "../../functions/create-alert-config/endpoint.ts";
import { listActivity } from "../../functions/list-activity/endpoint.ts";
import { listBreaches } from "../../functions/list-breaches/endpoint.ts";
import { listEmails } from "../../functions/list-emails/endpoint.ts";
import { listScans } from "../../functions/list-scans/endpoint.ts";
import { removeEmail } from "../../functions/remove-email/endpoint.ts";
import { routes } from "../../functions/routes.ts";
import { createOrganization } from "../service/organization.ts";
import { expectInvalid } from "./invalid.ts";
import { countStatuses, expectRefusal } from "./reply.ts";

const mebibyte = 1024 * 1024;

describe("a body", () => {
  test("that is not JSON, or not an object, is 400", async () => {
    const { api } = await createOrganization();
    const post = (raw: string) => api.request("POST", "/emails", { raw });
    const notJson = ["", " ", "{", "{} {}", "{'a': 1}", '{"a": 1,}', "undefined", "NaN", "\ufeff{}", "a=b"];
    for (const raw of notJson) expectRefusal(await post(raw), 400, /^The request body is not JSON$/);
    for (const raw of ["null", "[]", '[{"id": 1}]', '"text"', "7", "true"]) {
      expectRefusal(await post(raw), 400, /^The request body must be a JSON object$/);
    }
    expect((await api.request("POST", "/emails")).status).toBe(400);
    for (const { endpoint } of routes.filter((route) => "body" in route.endpoint)) {
      await expectInvalid(endpoint, { raw: "[]", id: "1" }, "The request body must be a JSON object");
    }
  });

  test("that is not UTF-8 is 400, and nothing of it is stored", async () => {
    const { api, domainId } = await createOrganization();
    const body = { email: "ada@demo.example", domainId, ownerName: "J\u00fcrgen" };
    const raw = Buffer.from(JSON.stringify(body), "latin1");
    for (const type of ["application/json", "multipart/form-data"]) {
      const reply = await api.request("POST", "/emails", { raw, headers: { "content-type": type } });
      expectRefusal(reply, 400, /^The request body is not UTF-8/);
    }
    expect((await api.get("/emails")).body.total).toBe(0);
    expect((await api.post("/emails", body)).status).toBe(201);
  });

  test("of exactly 1 MiB is accepted, and over 1 MiB it is 413, whatever it holds", async () => {
    const { api, domainId } = await createOrganization();
    const json = JSON.stringify({ email: "ada@demo.example", domainId });
    const raw = json + " ".repeat(mebibyte - json.length);
    expect((await api.request("POST", "/emails", { raw })).status).toBe(201);
    const replies = await Promise.all([
      api.request("POST", "/emails", { raw: `{}${" ".repeat(mebibyte - 1)}` }),
      api.request("POST", "/emails", { raw: "{".repeat(mebibyte + 1) }),
      // More bytes than characters.
      api.request("POST", "/emails", { raw: `{"x": "${"é".repeat(mebibyte / 2)}"}` }),
      // More than a function is called with.
      api.request("POST", "/emails", { raw: Buffer.alloc(7 * mebibyte, "x") }),
    ]);
    for (const reply of replies) expectRefusal(reply, 413, /too large/);
  });

  test("is read as JSON whatever its content type", async () => {
    const { api, domainId } = await createOrganization();
    const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""];
    for (const [index, type] of types.entries()) {
      const body = { email: `a${index}@demo.example`, domainId };
      const reply = await api.request("POST", "/emails", { body, headers: { "content-type": type } });
      expect([type, reply.status]).toEqual([type, 201]);
    }
  });

  test("may be deep in unknown fields, which are ignored, not in known ones", async () => {
    const { api, domainId } = await createOrganization();
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const ignored = `{"email": "ada@demo.example", "domainId": ${domainId}, "x": ${deep}}`;
    expect((await api.request("POST", "/emails", { raw: ignored })).status).toBe(201);
    const objects = `${'{"x":'.repeat(50_000)}1${"}".repeat(50_000)}`;
    for (const raw of [`{"email": ${deep}, "domainId": ${domainId}}`, objects]) {
      expectRefusal(await api.request("POST", "/emails", { raw }), 400, /^email/);
    }
  });

  const email = (...recipients: string[]) => ({ channel: "email", config: { recipients } });
  test.each([
    [addEmail, {}, "email: is required"],
    [addEmail, { email: "ada@demo.example", domainId: "1" }, "domainId: must be a number"],
    [addEmail, { email: "ada@demo.example", domainId: 1.5 }, "domainId: must be an integer"],
    [addEmail, { email: "ada@demo.example", domainId: 0 }, "domainId: must be at least 1"],
    [acknowledgeBreach, { id: 1, resolution: "x" }, "resolution: must be handled or ignored"],
    [createAlertConfig, {}, "channel: must be email, slack, or webhook"],
    [createAlertConfig, { channel: "email", config: 5 }, "config: must be an object"],
    [createAlertConfig, email(), "config.recipients: must not be empty"],
    [
      createAlertConfig,
      email(...Array(21).fill("a@a.example")),
      "config.recipients: must have at most 20 entries",
    ],
    [createAlertConfig, { ...email("a@a.example"), isEnabled: 1 }, "isEnabled: must be true or false"],
  ])("is refused in words that name the field (%#)", (endpoint, body, error) =>
    expectInvalid(endpoint, { body }, error),
  );

  test("with __proto__ changes nothing: it is an unknown field", async () => {
    const { api, domainId } = await createOrganization();
    const inherited = `{"__proto__": {"email": "ada@demo.example", "domainId": ${domainId}}}`;
    await expectInvalid(addEmail, { raw: inherited }, /^email/);
    const beside =
      `{"email": "ada@demo.example", "domainId": ${domainId}, "__proto__": {"ownerName": "x"}, ` +
      `"constructor": {"prototype": {"teamId": 1}}}`;
    expect((await api.request("POST", "/emails", { raw: beside })).status).toBe(201);
    expect((await api.get("/emails")).body.emails).toMatchObject([{ ownerName: null, team: null }]);
  });

  test.each([
    ...['"1"', "0", "-1", "1.5", "9007199254740992", "9007199254740993", "1e400", "-0.0"],
    ...["true", "null", "[1]", "{}", '""'],
  ])("with the id %s is 400: ids are positive integers below 2^53", async (id) => {
    await expectInvalid(addEmail, { raw: `{"email": "a@demo.example", "domainId": ${id}}` }, /^domainId: /);
    const withTeam = `{"email": "a@demo.example", "domainId": 1, "teamId": ${id}}`;
    await expectInvalid(addEmail, { raw: withTeam }, /^teamId: /);
    await expectInvalid(acknowledgeBreach, { raw: `{"id": ${id}}` }, /^id: /);
  });

  test("is not read by endpoints without a body", async () => {
    const { api } = await createOrganization();
    const raw = "{not JSON";
    expect((await api.request("GET", "/emails", { raw })).status).toBe(200);
    expectRefusal(await api.request("DELETE", "/emails?id=1", { raw }), 404, /email/);
    expectRefusal(await api.request("POST", "/scans", { raw }), 400, /active/);
  });

  test("an error never repeats what was sent", async () => {
    const { api } = await createOrganization();
    const secret = "S3CRET-VALUE";
    const replies = await Promise.all([
      api.post("/emails", { email: secret, domainId: secret }),
      api.post("/breaches/acknowledge", { id: 1, resolution: secret }),
      api.post("/alert-configs", { channel: secret, config: { url: secret } }),
      api.request("POST", "/emails", { raw: `{"email": ${secret}}` }),
      api.get(`/scans?status=${secret}`),
      api.get(`/emails?limit=${secret}`),
    ]);
    expect(countStatuses(replies)).toEqual({ 400: 6 });
    expect(JSON.stringify(replies.map(({ body }) => body))).not.toContain(secret);
  });
});

/** Percent-encoded, as in a url. */
const noIntegers = [
  ...["", "abc", "-1", "1.5", "1.0", "1e1", "0x10", "01", "%2B1", "%201", "1%20", "1_0", "1,2"],
  ...["%EF%BC%91", "%00", "null", "9007199254740993", "99999999999999999999"],
];

describe("limit and offset", () => {
  test.each(Object.entries({ listEmails, listScans, listBreaches, listActivity }))(
    "of %s are plain integers, given once; limit is from 1 to 100",
    async (_, endpoint) => {
      for (const name of ["limit", "offset"]) {
        for (const form of noIntegers)
          await expectInvalid(endpoint, { query: `${name}=${form}` }, RegExp(`^${name}`));
        await expectInvalid(endpoint, { query: `${name}=1&${name}=1` }, `${name}: must be given once`);
      }
      for (const limit of [0, 101, 1000]) {
        await expectInvalid(endpoint, { query: `limit=${limit}` }, /^limit must be between 1 and 100$/);
      }
    },
  );

  test("reach the endpoint as they are sent", async () => {
    const { api } = await createOrganization();
    for (const query of ["limit=+1", "limit=%2B1", "limit=%ZZ", "limit=1&limit=1", "limit=1&limit="]) {
      expectRefusal(await api.get(`/emails?${query}`), 400, /^limit/);
    }
  });

  test.each(["/emails", "/scans", "/breaches", "/activity"])(
    "of %s reach the ends of their ranges; unknown names are ignored",
    async (path) => {
      const { api } = await createOrganization();
      for (const query of [
        "limit=1&offset=0",
        "limit=100&offset=9007199254740991",
        "page=2&page=3&Limit=0&LIMIT=x&__proto__=1&constructor=2&toString=3",
        "%ZZ=1&=&&?",
      ])
        expect([query, (await api.get(`${path}?${query}`)).status]).toEqual([query, 200]);
    },
  );
});

describe("a malformed id", () => {
  test.each(
    routes.filter(({ path }) => path.includes("{id}")).map((route) => [route.method, route.path, route]),
  )("is 400 in the path of %s %s", async (_, __, { endpoint }) => {
    for (const id of ["0", "x", "1.5", "01", "1e3"]) await expectInvalid(endpoint, { id, body: {} }, /^id/);
  });

  test("is 400 in a path, however it is encoded", async () => {
    const { api } = await createOrganization();
    const forms = ["1;x=2", "1%00", "__proto__", "{id}", "1%2F2", "..", ...noIntegers.slice(1)];
    const replies = await Promise.all(forms.map((form) => api.patch(`/emails/${form}`, { isActive: true })));
    for (const [index, reply] of replies.entries()) {
      expect([forms[index], reply.status]).toEqual([forms[index], 400]);
      expectRefusal(reply, 400, /^id/);
    }
  });

  test("is 400 in a query", async () => {
    for (const id of [...noIntegers, "0", "1&id=2"])
      await expectInvalid(removeEmail, { query: `id=${id}` }, /^id/);
    await expectInvalid(removeEmail, {}, /^id/);
  });
});
