import { describe, expect, test } from "vitest";
import { addresseesOf, pageUrlOf } from "../../shared/alerting/kinds/email/recipient.ts";
import { createOrganization } from "../service/organization.ts";
import { urlOf, useBrowser, visit } from "./visit.ts";

useBrowser();

describe("an alert's link", () => {
  test("unsubscribes and subscribes again, without a session", async () => {
    const { id: org } = await createOrganization({ name: "Acme Alerts" });
    const email = `reader-${org}@other.example`;
    const consentOf = async () => (await addresseesOf(org, [email]))[0]?.consent;
    const [addressee] = await addresseesOf(org, [email]);
    const { page } = await visit();
    await page.goto(pageUrlOf(urlOf("").replace(/\/$/, ""), addressee?.token ?? ""));
    await page.getByText(`Acme Alerts sends alerts of data breaches to ${email}.`).waitFor();
    expect(await consentOf()).toBeUndefined();
    await page.getByRole("button", { name: "Unsubscribe" }).click();
    await page.getByText(`${email} gets no alerts from Acme Alerts any more.`).waitFor();
    expect(await consentOf()).toBe("refused");
    await page.getByRole("button", { name: "Get alerts again" }).click();
    await page.getByText(`${email} gets alerts from Acme Alerts.`).waitFor();
    expect(await consentOf()).toBe("given");
  });

  test("that was cut says what to do", async () => {
    const { page, watch } = await visit();
    watch.expect("404 /api/dashboard/recipients/1.cut");
    await page.goto(urlOf("/recipient#1.cut"));
    await page
      .getByRole("alert")
      .getByText("This link does not work. Open it in the e-mail itself.")
      .waitFor();
    await page.goto(urlOf("/recipient"));
    await page.getByText("Open the link in the e-mail itself.").waitFor();
    await page.getByText("copy the whole link as text").waitFor();
  });
});
