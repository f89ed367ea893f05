import { request } from "node:http";
import { gunzipSync } from "node:zlib";
import { describe, expect, inject, test } from "vitest";

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

/** Asks for exactly this path, which a URL would have tidied. */
const ask = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(inject("apiUrl"));
    const asked = request({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    asked.on("error", reject);
    asked.end();
  });

const page = await ask("/api/app/");
const html = page.body.toString();
const [, script = ""] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
const [, styles = ""] = /<link rel="stylesheet" href="([^"]+)"/.exec(html) ?? [];

const expectSecurityHeaders = ({ headers }: Answer): void => {
  expect(headers).toMatchObject({
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      "connect-src 'self'; font-src 'self'; manifest-src 'self'; form-action 'self'; base-uri " +
      "'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": expect.stringMatching(/^(?:[a-z-]+=\(\), )+[a-z-]+=\(\)$/),
    "x-request-id": expect.stringMatching(/^[\w+/=]{12,}$/),
  });
};

const expectPage = (answer: Answer): void => {
  expect({ status: answer.status, body: answer.body.toString() }).toEqual({ status: 200, body: html });
  expect(answer.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
  });
  expect(answer.headers).not.toHaveProperty("etag");
  expectSecurityHeaders(answer);
};

describe("200", () => {
  test("the page needs no credential and has all headers", () => {
    expectPage(page);
    expect(html).toContain('<div id="app">');
  });

  test("it is the same with a wrong key: nobody looks at credentials", async () => {
    expectPage(await ask("/api/app/", { authorization: "Bearer wrong", cookie: "session=wrong" }));
  });

  test.each([
    ...["/api/app", "/api/app/findings", "/api/app/findings?acknowledged=false&offset=50"],
    ...["/api/app/settings/api-keys", "/api/app/sign-in", "/api/app/no/such/place", "/api/app/assets/"],
    // Nothing but the page's own files can be had.
    ...["/api/app/index.html", "/api/app//etc/passwd", "/api/app/%2fetc%2fpasswd", "/api/app/..%2f..%2f"],
    ...["/api/app/__proto__", "/api/app/constructor"],
  ])("%s is the page, whose router takes it from there", async (path) => expectPage(await ask(path)));

  test.each([
    ["script", script, "text/javascript; charset=utf-8"],
    ["style sheet", styles, "text/css; charset=utf-8"],
  ])("the %s may be kept for a year: its name has a hash", async (_, path, contentType) => {
    expect(path).toMatch(/^\/api\/app\/assets\/\w+-[A-Z0-9]{8}\.\w+$/);
    const answer = await ask(path);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": contentType,
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
    });
    expectSecurityHeaders(answer);
  });

  test("the rest is asked for again each time, by its ETag", async () => {
    const { status, headers, body } = await ask("/api/app/icon.svg");
    expect({ status, headers }).toMatchObject({
      status: 200,
      headers: {
        "content-type": "image/svg+xml",
        "cache-control": "no-cache",
        etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
      },
    });
    expect(body.toString()).toContain("<svg");
  });

  test("texts are compressed for those who take that, and are the same", async () => {
    const plain = await ask(script);
    expect(plain.headers).not.toHaveProperty("content-encoding");
    for (const accepted of ["gzip", "br, gzip", "gzip, deflate, br, zstd"]) {
      const packed = await ask(script, { "accept-encoding": accepted });
      expect(packed.headers["content-encoding"]).toBe("gzip");
      expect(packed.headers.etag).toBe(plain.headers.etag);
      expect(packed.body.length).toBeLessThan(plain.body.length / 2);
      expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
    }
    for (const accepted of ["identity", "br", "gzip;q=0"]) {
      const unpacked = await ask(script, { "accept-encoding": accepted });
      expect(unpacked.headers).not.toHaveProperty("content-encoding");
      expect(unpacked.body.equals(plain.body)).toBe(true);
    }
  });

  test("HEAD tells the same without the body", async () => {
    const { status, headers, body } = await ask(script, {}, "HEAD");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(body).toHaveLength(0);
  });
});

test.each(["/api", "/api/"])("302: %s leads to the page", async (path) => {
  const answer = await ask(path);
  expect(answer.status).toBe(302);
  expect(answer.headers).toMatchObject({ location: "/api/app/", "cache-control": "no-store" });
  expectSecurityHeaders(answer);
});

describe("304", () => {
  test("for who has the file already, by the weak comparison", async () => {
    for (const path of ["/api/app/icon.svg", script]) {
      const etag = String((await ask(path)).headers.etag);
      for (const known of [etag, etag.slice(2), `"other", ${etag}`, "*"]) {
        const answer = await ask(path, { "if-none-match": known });
        expect([known, answer.status, answer.body.length]).toEqual([known, 304, 0]);
        expect(answer.headers.etag).toBe(etag);
      }
      expect((await ask(path, { "if-none-match": '"other"' })).status).toBe(200);
    }
  });

  test("never for the page itself", async () => {
    expectPage(await ask("/api/app/", { "if-none-match": "*" }));
  });
});

test.each([
  "/api/app/assets/main-00000000.js",
  "/api/app/favicon.ico",
  "/api/app/../../package.json",
  "/api/app/..%2f..%2findex.js",
  "/api/app/%2e%2e/index.js",
  "/api/app/assets/../../index.js",
  "/api/app/..\\index.js",
  "/api/app/index.js%00.css",
])("404: a file that is none of the page's: %s", async (path) => {
  const answer = await ask(path);
  expect(answer.status).toBe(404);
  expect(answer.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
  expect(JSON.parse(answer.body.toString())).toEqual({ error: "There is nothing at this path" });
  expectSecurityHeaders(answer);
});

test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("405: %s", async (method) => {
  for (const path of ["/api/app/", "/api/app/sign-in", "/api"]) {
    const { status, headers, body } = await ask(path, {}, method);
    expect([path, status, headers.allow]).toEqual([path, 405, "GET, HEAD"]);
    expect(JSON.parse(body.toString())).toEqual({ error: "This path does not support this method" });
  }
});
