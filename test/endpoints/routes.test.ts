import { beforeAll, describe, expect, inject, test } from "vitest";
import { type Client, createClient } from "../service/client.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { expectEveryHeader, expectRefusal } from "./reply.ts";

let organization: Organization;
let api: Client;

beforeAll(async () => {
  organization = await createOrganization();
  api = organization.api;
});

describe("404", () => {
  test.each([
    "",
    "/",
    "/nothing",
    "/Emails",
    "/EMAILS",
    "/email",
    "/emails.json",
    "/emails/1/2",
    "/emails/1/breaches",
    "/emails%2F1",
    "/breaches%2Facknowledge",
    "/breaches/1",
    "/breaches/acknowledge/1",
    "/scans/1",
    "/alert-configs/1/test",
    "/emails/../scans",
    "/%2e%2e/v1/emails",
    "/v1/emails",
    "/api/v1/emails",
    "/{proxy+}",
    "/emails%00",
    "/__proto__",
    "/constructor/prototype",
  ])("GET /api/v1%s leads nowhere", async (path) => {
    expectRefusal(await api.get(path), 404, /nothing at this path/);
  });

  test("with any method", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      expectRefusal(await api.request(method, "/nothing"), 404, /nothing at this path/);
    }
    const head = await api.request("HEAD", "/nothing");
    expect(head.status).toBe(404);
    expectEveryHeader(head);
  });

  test("beside /api/v1 too, with and without credentials", async () => {
    const base = `${new URL(inject("apiUrl")).origin}/api`;
    const withKey = createClient({ authorization: `Bearer ${organization.key}` }, base);
    const anonymous = createClient({}, base);
    const replies = await Promise.all(
      [withKey, anonymous].flatMap((client) =>
        ["/v2/emails", "/v10", "/emails", "/application"].map(client.get),
      ),
    );
    for (const reply of replies) expectRefusal(reply, 404, /nothing at this path/);
  });
});

describe("400", () => {
  test("a path that is not well-formed", async () => {
    for (const path of ["/%", "/%zz", "/%ff%fe", "/emails/%"]) {
      expectRefusal(await api.patch(path, { isActive: true }), 400, /./);
    }
  });
});

describe("405", () => {
  const allowed: [path: string, allow: string[]][] = [
    ["/scans", ["GET", "POST"]],
    ["/activity", ["GET"]],
    ["/emails", ["DELETE", "GET", "POST"]],
    ["/emails/1", ["PATCH"]],
    ["/emails/import/preview", ["POST"]],
    ["/emails/import/commit", ["POST"]],
    ["/breaches", ["GET"]],
    ["/breaches/acknowledge", ["POST"]],
    ["/breaches/acknowledgements", ["POST"]],
    ["/breaches/acknowledgements/1", ["GET"]],
    ["/alert-configs", ["GET", "POST"]],
    ["/alert-configs/1", ["DELETE", "PATCH"]],
  ];

  test.each(allowed)("%s with any other method names those of %j in Allow", async (path, allow) => {
    const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter(
      (method) => !allow.includes(method),
    );
    for (const method of others) {
      const reply = await api.request(method, path);
      expect([method, reply.status]).toEqual([method, 405]);
      expect(String(reply.headers.allow).split(", ").sort()).toEqual(allow);
      if (method === "HEAD") expectEveryHeader(reply);
      else expectRefusal(reply, 405, /does not support this method/);
    }
  });

  test("comes before the input: the body of a wrong method is not read", async () => {
    expectRefusal(await api.request("PUT", "/emails", { raw: "{" }), 405, /method/);
  });
});

describe("the order of checks", () => {
  test("comes after authentication: without credentials every path and method is 401", async () => {
    const anonymous = createClient({});
    const replies = await Promise.all([
      anonymous.get("/nothing"),
      anonymous.get(""),
      anonymous.request("PUT", "/emails"),
      anonymous.request("OPTIONS", "/emails"),
    ]);
    for (const reply of replies) expectRefusal(reply, 401, /API key or session/);
  });
});

describe("200", () => {
  test("a slash at the end is the same path", async () => {
    expect((await api.get("/emails/")).status).toBe(200);
  });

  test("a percent-encoded id is the same id, and an encoded slash belongs to the id", async () => {
    expectRefusal(await api.patch("/emails/%31%32", { isActive: true }), 404, /email/);
    expectRefusal(await api.patch("/emails/1%2F2", { isActive: true }), 400, /^id/);
  });

  test("a long reply is compressed for clients that accept it, and is the same", async () => {
    const url = "https://192.0.32.8/";
    // The other tests of this file make nearly as many requests in a minute as one key may.
    const { api, key } = await createOrganization();
    await Promise.all(
      Array.from({ length: 8 }, () => api.post("/alert-configs", { channel: "webhook", config: { url } })),
    );
    const reply = await fetch(`${inject("apiUrl")}/alert-configs`, {
      headers: { authorization: `Bearer ${key}`, "accept-encoding": "gzip" },
    });
    expect(reply.headers.get("content-encoding")).toBe("gzip");
    expect(await reply.json()).toEqual((await api.get("/alert-configs")).body);
  });
});
