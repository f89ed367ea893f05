import { setTimeout } from "node:timers/promises";
import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { numberedAddresses } from "../endpoints/emails.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { press } from "./keyboard.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

test("the keyboard starts a scan, whose slow progress and coverage are shown", async () => {
  const organization = await createOrganization();
  const addresses = [...numberedAddresses(59), "ada@demo.example"];
  const org = organization.id;
  const other = await admin("domain add", { org, name: "other.example", verified: true });
  addresses.push("left.out@other.example");
  await admin("email import", { org, file: await writeAddresses(addresses) });
  await admin("domain unverify", { org, domain: other.id });
  const { page } = await signInTo(organization);
  await go(page, "Scans");
  await page.getByText("No scan has run yet.").waitFor();
  // An answer takes longer than the page waits until it asks again.
  const slowly = async (route: Route) => {
    const response = await route.fetch();
    await setTimeout(5_500);
    await route.fulfill({ response }).catch(() => {});
  };
  await page.route("**/api/v1/scans?*", slowly, { times: 2 });
  await press(page, "Start scan");
  // At the same moment: the scan may end at the next.
  await page.locator("main:has(progress) button[aria-disabled=true]", { hasText: "Start scan" }).waitFor();

  const row = page.getByRole("row").filter({ hasText: "Started by hand" });
  await row.getByText("Completed", { exact: true }).waitFor();
  // It may have left out addresses that the list does not count: "all" would say more than is known.
  await row.getByRole("cell", { name: "60", exact: true }).waitFor();
  expect(await row.getByText("in less than a minute").count()).toBe(0);
  const scans = await organization.api.list("/scans");
  expect(scans).toMatchObject([{ status: "completed", totalEmails: 60, scannedEmails: 60 }]);
  const found = row.getByRole("link", { name: String(scans[0]?.newBreachesFound), exact: true });
  expect(await found.getAttribute("href")).toContain(`/findings?scanId=${scans[0]?.id}`);

  await row.getByRole("button", { description: "What the scan checked" }).click();
  const dialog = page.getByRole("dialog", { name: "What the scan checked" });
  await dialog.getByText("60 addresses", { exact: true }).waitFor();
  await dialog.getByText("1 address: the domain is not verified").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
});
