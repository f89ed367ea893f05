import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

const withFindings = async () => {
  const { api, domainId, ...organization } = await createOrganization();
  await addEmail(api, domainId, "ada@demo.example");
  await scan(api);
  const { total } = (await api.get("/breaches")).body;
  expect(total).toBeGreaterThan(1);
  return { api, organization, total: total as number };
};

describe("Findings", () => {
  test("all matching findings are acknowledged, and Overview counts them", async () => {
    const { api, organization, total } = await withFindings();
    const { page } = await signInTo(organization);
    await go(page, "Findings");
    const rows = page.getByRole("row").filter({ hasText: "ada@demo.example" });
    await rows.first().waitFor();
    expect(await rows.count()).toBe(total);

    await rows.first().getByRole("checkbox").check();
    await page.getByRole("button", { name: "Select all matching" }).click();
    await page.getByRole("button", { name: "Acknowledge", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("Passwords are changed");
    await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await expect
      .poll(async () => (await api.get("/breaches")).body.unacknowledged, { timeout: 60_000 })
      .toBe(0);
    const breaches = (await api.get("/breaches")).body.breaches as unknown[];
    expect(breaches[0]).toMatchObject({ acknowledgeReason: "Passwords are changed", resolution: "handled" });

    await go(page, "Overview");
    await page.getByText("Open findings").first().waitFor();
  });
});
