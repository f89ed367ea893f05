import { describe, expect, inject, test } from "vitest";
import { find } from "../../shared/alerting/recipients/recipient.ts";
import { expectEveryHeader, expectRefusal } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { createRecipient } from "./recipients.ts";
import { visitor } from "./signed-in.ts";

const unknown = `1.${"a".repeat(22)}.${"a".repeat(22)}`;

describe("200", () => {
  test("unsubscribes, also when it is repeated", async () => {
    const { token } = await createRecipient((await createOrganization()).id);
    for (let count = 0; count < 2; count++) {
      const reply = await visitor().post(`/recipients/${token}/unsubscribe`);
      expect(reply).toMatchObject({ status: 200, body: { success: true } });
      expectEveryHeader(reply);
    }
    expect((await find(token))?.recipient.consent).toBe("refused");
  });

  test("a mail program's one click, in both forms that RFC 8058 allows", async () => {
    const form = new FormData();
    form.append("List-Unsubscribe", "One-Click");
    const bodies = [new URLSearchParams({ "List-Unsubscribe": "One-Click" }), form];
    for (const body of bodies) {
      const { token } = await createRecipient((await createOrganization()).id);
      const url = `${new URL(inject("apiUrl")).origin}/api/dashboard/recipients/${token}/unsubscribe`;
      expect((await fetch(url, { method: "POST", body })).status).toBe(200);
      expect((await find(token))?.recipient.consent).toBe("refused");
    }
  });
});

describe("from any site", () => {
  // Mail programs are extensions and web sites, too. The token in the path is the authority, and not a cookie.
  test.each([
    { origin: "moz-extension://3f2b8a0e-7c1d-4e5f-9a6b-0123456789ab" },
    { origin: "null" },
    { origin: "https://mail.example", "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])("%j unsubscribes, and confirms again", async (headers) => {
    const { token } = await createRecipient((await createOrganization()).id);
    const program = visitor(headers as Record<string, string>);
    for (const [act, consent] of [
      ["unsubscribe", "refused"],
      ["confirm", "given"],
    ] as const) {
      expect((await program.post(`/recipients/${token}/${act}`)).status).toBe(200);
      expect((await find(token))?.recipient.consent).toBe(consent);
    }
  });
});

describe("404", () => {
  test("a link of nobody makes no row", async () => {
    expectRefusal(await visitor().post(`/recipients/${unknown}/unsubscribe`), 404, /of no recipient/);
    expect(await find(unknown)).toBeUndefined();
  });
});
