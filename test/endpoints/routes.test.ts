import { beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { routes } from "../../functions/routes.ts";
import type { Route } from "../../shared/contract/endpoint.ts";
import { admin } from "../service/admin.ts";
import { type Client, createClient } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { expectEveryHeader, expectRefusal } from "./reply.ts";

let org: number;
let api: Client;
let key: string;

beforeAll(async () => {
  org = (await createOrganization()).id;
});
// Each test has a key of its own, since requests are limited by key.
beforeEach(async () => {
  key = (await admin("key create", { org, label: "Test key" })).key as string;
  api = createClient({ authorization: `Bearer ${key}` });
});

describe("404", () => {
  test("where nothing is", async () => {
    for (const path of [
      ...["", "/", "/nothing", "/Emails", "/EMAILS", "/email", "/emails.json", "/emails/1/2"],
      ...["/emails/1/breaches", "/emails%2F1", "/breaches%2Facknowledge", "/breaches/1"],
      ...["/breaches/acknowledge/1", "/scans/1", "/alert-configs/1/test", "/emails/../scans"],
      ...["/%2e%2e/v1/emails", "/v1/emails", "/api/v1/emails", "/{proxy+}", "/emails%00", "/__proto__"],
      "/constructor/prototype",
    ]) {
      const reply = await api.get(path);
      expect([path, reply.status]).toEqual([path, 404]);
      expectRefusal(reply, 404, /nothing at this path/);
    }
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
    const clients = [createClient({ authorization: `Bearer ${key}` }, base), createClient({}, base)];
    const replies = await Promise.all(
      clients.flatMap((client) => ["/v2/emails", "/v10", "/emails", "/application"].map(client.get)),
    );
    for (const reply of replies) expectRefusal(reply, 404, /nothing at this path/);
  });
});

test("400: a path that is not well-formed", async () => {
  for (const path of ["/%", "/%zz", "/%ff%fe", "/emails/%"]) {
    expectRefusal(await api.patch(path, { isActive: true }), 400, /./);
  }
});

const methodsOf = Map.groupBy<string, Route>(routes, ({ path }) => path.replace("{id}", "1"));

test.each([...methodsOf])("405: %s with another method than those in Allow", async (path, some) => {
  const allowed: string[] = some.map(({ method }) => method).sort();
  const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter(
    (method) => !allowed.includes(method),
  );
  // One method of the template takes all that no endpoint has.
  for (const method of others.filter((each) => each === "HEAD" || each === others[0] || each === "OPTIONS")) {
    const reply = await api.request(method, path);
    expect([method, reply.status]).toEqual([method, 405]);
    expect(String(reply.headers.allow).split(", ").sort()).toEqual(allowed);
    if (method === "HEAD") expectEveryHeader(reply);
    else expectRefusal(reply, 405, /does not support this method/);
  }
});

test("401: without credentials every path and method", async () => {
  const anonymous = createClient({});
  const replies = await Promise.all([
    anonymous.get("/nothing"),
    anonymous.get(""),
    anonymous.request("PUT", "/emails"),
    anonymous.request("OPTIONS", "/emails"),
  ]);
  for (const reply of replies) expectRefusal(reply, 401, /API key or session/);
});

describe("200", () => {
  test("a slash at the end is the same path, and a percent-encoded id the same id", async () => {
    expect((await api.get("/emails/")).status).toBe(200);
    expectRefusal(await api.patch("/emails/%31%32", { isActive: true }), 404, /email/);
  });

  test("a long reply is compressed for clients that accept it, and is the same", async () => {
    const config = { recipients: ["a@acme.example"] };
    await Promise.all(
      Array.from({ length: 8 }, () => api.post("/alert-configs", { channel: "email", config })),
    );
    const reply = await fetch(`${inject("apiUrl")}/alert-configs`, {
      headers: { authorization: `Bearer ${key}`, "accept-encoding": "gzip" },
    });
    expect(reply.headers.get("content-encoding")).toBe("gzip");
    expect(await reply.json()).toEqual((await api.get("/alert-configs")).body);
  });
});
