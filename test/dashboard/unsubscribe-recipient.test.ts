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

describe("403", () => {
  test("a page of another origin unsubscribes nobody", async () => {
    const { token } = await createRecipient((await createOrganization()).id);
    const attacker = visitor({ origin: "https://attacker.example" });
    expectRefusal(await attacker.post(`/recipients/${token}/unsubscribe`), 403, /own origin/);
    expect((await find(token))?.recipient.consent).toBeUndefined();
  });
});

describe("404", () => {
  test("a link of nobody makes no row", async () => {
    expectRefusal(await visitor().post(`/recipients/${unknown}/unsubscribe`), 404, /of no recipient/);
    expect(await find(unknown)).toBeUndefined();
  });
});
