/** Links at the end of alerts by e-mail, which need no session. */
import { expect, inject, test } from "vitest";
import { find, oneClickUrlOf, pageUrlOf } from "../../shared/alerting/kinds/email/recipient.ts";
import { expectEveryHeader, expectRefusal } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { createRecipient } from "./recipients.ts";
import { visitor } from "./signed-in.ts";

const appUrl = (): string => new URL("/api/app", inject("apiUrl")).href;

const create = async (name = "Acme Recipients") => {
  const { id: org } = await createOrganization({ name });
  const { email, token } = await createRecipient(org);
  return { email, token, consent: async () => (await find(token))?.recipient.consent };
};

test("GET tells whose link it is, and what they said last, without their secret", async () => {
  const { email, token } = await create();
  const reply = await visitor().get(`/recipients/${token}`);
  const body = { email, organization: { name: "Acme Recipients" }, consent: null };
  expect(reply).toMatchObject({ status: 200 });
  expect(reply.body).toEqual(body);
  expectEveryHeader(reply);
  await visitor().post(`/recipients/${token}/unsubscribe`);
  expect((await visitor().get(`/recipients/${token}`)).body).toEqual({ ...body, consent: "refused" });
});

test("a text that is no token is 404, like a token of nobody", async () => {
  for (const token of ["x", "1.short.short", `${"1".repeat(17)}.${"a".repeat(22)}.${"a".repeat(22)}`])
    expectRefusal(await visitor().get(`/recipients/${token}`), 404, /of no recipient/);
  const unknown = `1.${"a".repeat(22)}.${"a".repeat(22)}`;
  for (const reply of [
    await visitor().get(`/recipients/${unknown}`),
    await visitor().post(`/recipients/${unknown}/confirm`),
    await visitor().post(`/recipients/${unknown}/unsubscribe`),
  ])
    expectRefusal(reply, 404, /of no recipient/);
});

// Mail programs are extensions and web sites, too. The token in the path is the authority, and not a cookie.
test.each([
  {},
  { origin: "moz-extension://3f2b8a0e-7c1d-4e5f-9a6b-0123456789ab" },
  { origin: "null" },
  { origin: "https://mail.example", "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
])("from %j one unsubscribes and confirms, however often", async (headers) => {
  const { token, consent } = await create();
  const program = visitor(headers as Record<string, string>);
  for (const [act, said] of [
    ["confirm", "given"],
    ["unsubscribe", "refused"],
    ["unsubscribe", "refused"],
    ["confirm", "given"],
  ] as const) {
    const reply = await program.post(`/recipients/${token}/${act}`);
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expectEveryHeader(reply);
    expect(await consent()).toBe(said);
  }
});

test("a mail program's one click unsubscribes, in both forms that RFC 8058 allows", async () => {
  const form = new FormData();
  form.append("List-Unsubscribe", "One-Click");
  const bodies = [new URLSearchParams({ "List-Unsubscribe": "One-Click" }), form];
  for (const body of bodies) {
    const { token, consent } = await create();
    const url = `${new URL(inject("apiUrl")).origin}/api/dashboard/recipients/${token}/unsubscribe`;
    expect((await fetch(url, { method: "POST", body })).status).toBe(200);
    expect(await consent()).toBe("refused");
  }
});

test.each(["GET", "HEAD"])(
  "%s of List-Unsubscribe's url leads to the page, and changes nothing",
  async (method) => {
    const { token, consent } = await create();
    const reply = await fetch(oneClickUrlOf(appUrl(), token), { method, redirect: "manual" });
    expect(reply.status).toBe(303);
    expect(reply.headers.get("location")).toBe(pageUrlOf(appUrl(), token));
    expect(reply.headers.get("cache-control")).toBe("no-store");
    expect(await consent()).toBeUndefined();
    const page = await fetch(oneClickUrlOf(appUrl(), token), { method });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  },
);

test("leads to no other site, and adds no header, whatever the token is", async () => {
  for (const token of ["1.cut", "%0d%0aSet-Cookie:%20a=b", "%2f%2fevil.example", "%c3%bc"]) {
    const reply = await visitor().get(`/recipients/${token}/unsubscribe`);
    expectEveryHeader(reply);
    expect(reply.headers["set-cookie"]).toBeUndefined();
    const { href, hash } = new URL(String(reply.headers.location));
    expect(href).toBe(`${appUrl()}/recipient${hash}`);
  }
});
