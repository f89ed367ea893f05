import { expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { go, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

test("every page says why a subscription lapsed; all is there again once it goes on", async () => {
  const { id: org, api, domainId } = await createOrganization();
  await addEmail(api, domainId, "ada@demo.example");
  const { page, watch } = await signInTo({ id: org });
  await page.getByText("ada@demo.example").waitFor();
  await admin("org billing", { org, status: "subscription_inactive" });
  watch.expect("402 /api/dashboard/emails", "402 /api/v1/alert-configs");
  for (const place of ["/emails", "/alerts"]) {
    await page.goto(urlOf(place));
    await page.getByRole("heading", { level: 1, name: "Subscription lapsed" }).waitFor();
    await page.getByText("The subscription is not active.").waitFor();
    await page.getByText("Nothing is deleted").waitFor();
    expect(await page.getByText("ada@demo.example").count()).toBe(0);
  }
  await admin("org billing", { org, status: "active" });
  // Whoever has renewed it comes back to the page.
  await page.evaluate(`dispatchEvent(new Event("focus"))`);
  await page.getByRole("heading", { level: 1, name: "Alerts" }).waitFor();
  await go(page, "E-mails");
  await page.getByText("ada@demo.example").waitFor();
  await admin("org billing", { org, status: "collection_paused" });
  await page.reload();
  await page.getByText("its billing is paused").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
});
