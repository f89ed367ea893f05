import { describe, expect, inject, test } from "vitest";
import { find, oneClickUrlOf, pageUrlOf } from "../../shared/alerting/recipients/recipient.ts";
import { expectEveryHeader } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { createRecipient } from "./recipients.ts";
import { visitor } from "./signed-in.ts";

const appUrl = (): string => new URL("/api/app", inject("apiUrl")).href;

describe("303", () => {
  test("the url of List-Unsubscribe leads to the page, and changes nothing", async () => {
    const { token } = await createRecipient((await createOrganization()).id);
    const reply = await fetch(oneClickUrlOf(appUrl(), token), { redirect: "manual" });
    expect(reply.status).toBe(303);
    expect(reply.headers.get("location")).toBe(pageUrlOf(appUrl(), token));
    expect(reply.headers.get("cache-control")).toBe("no-store");
    expect((await find(token))?.recipient.consent).toBeUndefined();
    const page = await fetch(oneClickUrlOf(appUrl(), token));
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  });

  test("leads to no other site, and adds no header, whatever the token is", async () => {
    for (const token of ["1.cut", "%0d%0aSet-Cookie:%20a=b", "%2f%2fevil.example", "%c3%bc"]) {
      const reply = await visitor().get(`/recipients/${token}/unsubscribe`);
      expectEveryHeader(reply);
      expect(reply.headers["set-cookie"]).toBeUndefined();
      const { href, hash } = new URL(String(reply.headers.location));
      expect(href).toBe(`${appUrl()}/recipient${hash}`);
    }
  });
});
