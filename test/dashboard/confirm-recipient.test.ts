import { describe, expect, test } from "vitest";
import { find } from "../../shared/alerting/recipients/recipient.ts";
import { expectEveryHeader, expectRefusal } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { createRecipient } from "./recipients.ts";
import { visitor } from "./signed-in.ts";

describe("200", () => {
  test("confirms, and takes back that the recipient unsubscribed", async () => {
    const { token } = await createRecipient((await createOrganization()).id);
    const consentOf = async () => (await find(token))?.recipient.consent;
    const reply = await visitor().post(`/recipients/${token}/confirm`);
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expectEveryHeader(reply);
    expect(await consentOf()).toBe("given");
    await visitor().post(`/recipients/${token}/unsubscribe`);
    await visitor().post(`/recipients/${token}/confirm`);
    expect(await consentOf()).toBe("given");
  });
});

describe("404", () => {
  test("a link of nobody", async () => {
    const token = `1.${"a".repeat(22)}.${"a".repeat(22)}`;
    expectRefusal(await visitor().post(`/recipients/${token}/confirm`), 404, /of no recipient/);
  });
});
