import { describe, expect, test } from "vitest";
import type { Client } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { countStatuses, expectRefusal } from "./reply.ts";

const mebibyte = 1024 * 1024;

/** Every endpoint that reads a body. */
const withBody: [method: string, path: string][] = [
  ["POST", "/emails"],
  ["PATCH", "/emails/1"],
  ["POST", "/breaches/acknowledge"],
  ["POST", "/alert-configs"],
];

const lists = ["/emails", "/scans", "/breaches", "/activity"];

describe("a body", () => {
  test.each(withBody)("%s %s: what is not JSON, or not an object, is 400", async (method, path) => {
    const { api } = await createOrganization();
    const notJson = [
      "",
      " ",
      "{",
      "{} {}",
      "{'a': 1}",
      '{"a": 1,}',
      "undefined",
      "NaN",
      "\ufeff{}",
      "a=b",
      "<a/>",
    ];
    for (const raw of notJson) {
      expectRefusal(await api.request(method, path, { raw }), 400, /^The request body is not JSON$/);
    }
    for (const raw of ["null", "[]", '[{"id": 1}]', '"text"', "7", "true"]) {
      expectRefusal(
        await api.request(method, path, { raw }),
        400,
        /^The request body must be a JSON object$/,
      );
    }
    expect((await api.request(method, path)).status).toBe(400);
  });

  test.each(withBody)("%s %s: over 1 MiB is 413, whatever it holds", async (method, path) => {
    const { api } = await createOrganization();
    const replies = await Promise.all([
      api.request(method, path, { raw: `{}${" ".repeat(mebibyte - 1)}` }),
      api.request(method, path, { raw: "{".repeat(mebibyte + 1) }),
      // More bytes than characters.
      api.request(method, path, { raw: `{"x": "${"é".repeat(mebibyte / 2)}"}` }),
    ]);
    for (const reply of replies) expectRefusal(reply, 413, /too large/);
  });

  test("of exactly 1 MiB is accepted", async () => {
    const { api, domainId } = await createOrganization();
    const json = JSON.stringify({ email: "ada@demo.example", domainId });
    const raw = json + " ".repeat(mebibyte - json.length);
    expect((await api.request("POST", "/emails", { raw })).status).toBe(201);
  });

  test("too large for a function is 413 as well, and for API Gateway in plain text", async () => {
    const { api } = await createOrganization();
    const [forFunction, forGateway] = await Promise.all(
      [7, 11].map((size) => api.request("POST", "/emails", { raw: Buffer.alloc(size * mebibyte, "x") })),
    );
    expectRefusal(forFunction as NonNullable<typeof forFunction>, 413, /too large/);
    expect(forGateway).toMatchObject({
      status: 413,
      body: { text: "HTTP content length exceeded 10485760 bytes." },
    });
    expect((await api.get("/emails")).status).toBe(200);
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

  test("nested deeply is no failure: unknown fields are ignored, known ones refused", async () => {
    const { api, domainId } = await createOrganization();
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const ignored = `{"email": "ada@demo.example", "domainId": ${domainId}, "x": ${deep}}`;
    expect((await api.request("POST", "/emails", { raw: ignored })).status).toBe(201);
    const wrong = `{"email": ${deep}, "domainId": ${domainId}}`;
    expectRefusal(await api.request("POST", "/emails", { raw: wrong }), 400, /^email/);
    const objects = `${'{"x":'.repeat(50_000)}1${"}".repeat(50_000)}`;
    expectRefusal(await api.request("POST", "/emails", { raw: objects }), 400, /^email/);
  });

  test.each([
    ["/emails", {}, "email: is required"],
    ["/emails", { email: "ada@demo.example", domainId: "1" }, "domainId: must be a number"],
    ["/emails", { email: "ada@demo.example", domainId: 1.5 }, "domainId: must be an integer"],
    ["/emails", { email: "ada@demo.example", domainId: 0 }, "domainId: must be at least 1"],
    ["/breaches/acknowledge", { id: 1, resolution: "x" }, "resolution: must be handled or ignored"],
    ["/alert-configs", {}, "channel: must be email, slack, or webhook"],
    ["/alert-configs", { channel: "email", config: 5 }, "config: must be an object"],
    [
      "/alert-configs",
      { channel: "email", config: { recipients: [] } },
      "config.recipients: must not be empty",
    ],
    [
      "/alert-configs",
      { channel: "email", config: { recipients: Array(21).fill("a@acme.example") } },
      "config.recipients: must have at most 20 entries",
    ],
    [
      "/alert-configs",
      { channel: "slack", config: { webhookUrl: "https://192.0.32.8/x" }, isEnabled: 1 },
      "isEnabled: must be true or false",
    ],
  ])("POST %s %j is refused in words that name the field: %s", async (path, body, error) => {
    const { api } = await createOrganization();
    expect(await api.post(path, body)).toMatchObject({ status: 400, body: { error } });
  });

  test("with __proto__ changes nothing: it is an unknown field", async () => {
    const { api, domainId } = await createOrganization();
    const inherited = `{"__proto__": {"email": "ada@demo.example", "domainId": ${domainId}}}`;
    expectRefusal(await api.request("POST", "/emails", { raw: inherited }), 400, /^email/);
    const beside = `{"email": "ada@demo.example", "domainId": ${domainId}, "__proto__": {"ownerName": "x"}, "constructor": {"prototype": {"teamId": 1}}}`;
    expect((await api.request("POST", "/emails", { raw: beside })).status).toBe(201);
    expect((await api.get("/emails")).body.emails).toMatchObject([{ ownerName: null, team: null }]);
  });

  test("that gives a field twice counts the last one", async () => {
    const { api, domainId } = await createOrganization();
    const raw = `{"email": "first@demo.example", "email": "last@demo.example", "domainId": "x", "domainId": ${domainId}}`;
    expect((await api.request("POST", "/emails", { raw })).status).toBe(201);
    expect((await api.get("/emails")).body).toMatchObject({
      total: 1,
      emails: [{ email: "last@demo.example" }],
    });
  });

  test("with an id other than a positive integer below 2^53 is 400, without coercion", async () => {
    const { api, domainId } = await createOrganization();
    const wrong = [
      `"${domainId}"`,
      "0",
      "-1",
      "1.5",
      "9007199254740992",
      "9007199254740993",
      "1e400",
      "-0.0",
      "true",
      "null",
      "[1]",
      "{}",
      '""',
    ];
    const replies = await Promise.all(
      wrong.flatMap((id) => [
        api.request("POST", "/emails", { raw: `{"email": "ada@demo.example", "domainId": ${id}}` }),
        api.request("POST", "/emails", {
          raw: `{"email": "ada@demo.example", "domainId": ${domainId}, "teamId": ${id}}`,
        }),
        api.request("POST", "/breaches/acknowledge", { raw: `{"id": ${id}}` }),
      ]),
    );
    for (const reply of replies) expectRefusal(reply, 400, /^(domainId|teamId|id): /);
    expect((await api.get("/emails")).body.total).toBe(0);
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

describe("limit and offset", () => {
  const get = async (api: Client, queries: readonly string[]) =>
    Promise.all(queries.map(async (query) => [query, (await api.get(query)).status]));

  test.each(lists)("%s: both must be plain decimal integers, and limit from 1 to 100", async (path) => {
    const { api } = await createOrganization();
    const forms = [
      "",
      "abc",
      "-1",
      "1.5",
      "1.0",
      "1e1",
      "0x10",
      "01",
      "+1",
      "%2B1",
      "%201",
      "1%20",
      "1_0",
      "1,2",
      "%EF%BC%91",
      "%00",
      "%ZZ",
      "null",
      "9007199254740993",
      "99999999999999999999",
    ];
    for (const name of ["limit", "offset"]) {
      const replies = await Promise.all(forms.map((form) => api.get(`${path}?${name}=${form}`)));
      for (const reply of replies) expectRefusal(reply, 400, new RegExp(`^${name}`));
    }
    for (const limit of [0, 101, 1000]) expectRefusal(await api.get(`${path}?limit=${limit}`), 400, /^limit/);
  });

  test.each(lists)(
    "%s: the ends of the ranges are valid, and unknown parameters are ignored",
    async (path) => {
      const { api } = await createOrganization();
      const queries = [
        "limit=1",
        "limit=100",
        "offset=0",
        "offset=9007199254740991",
        "limit=100&offset=9007199254740991",
        "page=2&page=3&Limit=0&LIMIT=x",
        "__proto__=1&constructor=2&toString=3",
        "%ZZ=1&=&&?",
      ].map((query) => `${path}?${query}`);
      expect(await get(api, queries)).toEqual(queries.map((query) => [query, 200]));
    },
  );

  test.each(lists)("%s: given twice they are 400, even if both values are the same", async (path) => {
    const { api } = await createOrganization();
    for (const query of ["limit=1&limit=2", "limit=1&limit=1", "limit=1&limit="]) {
      expectRefusal(await api.get(`${path}?${query}`), 400, /^limit/);
    }
    expectRefusal(await api.get(`${path}?offset=0&limit=1&offset=0`), 400, /^offset/);
  });
});

describe("an id in a path", () => {
  test("that is not a plain positive decimal integer is 400", async () => {
    const { api } = await createOrganization();
    const forms = [
      "abc",
      "0",
      "-1",
      "1.5",
      "01",
      "%2B1",
      "1e3",
      "%201",
      "1%20",
      "9007199254740993",
      "99999999999999999999",
      "1;x=2",
      "1%00",
      "%EF%BC%91",
      "null",
      "__proto__",
      "{id}",
      "1%2F2",
      "..",
    ];
    const replies = await Promise.all(forms.map((form) => api.patch(`/emails/${form}`, { isActive: true })));
    for (const [index, reply] of replies.entries()) {
      expect([forms[index], reply.status]).toEqual([forms[index], 400]);
      expectRefusal(reply, 400, /^id/);
    }
  });
});
