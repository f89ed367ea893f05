import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { go, isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

describe("Breaches", () => {
  test("worst first; one is found by its name, acknowledged as a whole, and reopened", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    for (const name of ["grace", "donald"]) await addEmail(api, domainId, `${name}@demo.example`);
    await scan(api);
    const { page } = await signInTo(organization);
    await go(page, "Breaches");
    const severities = await page.getByRole("row").locator(".severity").allInnerTexts();
    const order = ["Critical", "High", "Medium", "Low"];
    expect(severities.length).toBeGreaterThan(2);
    expect(severities).toEqual(
      severities.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)),
    );

    await page.keyboard.press("/");
    await page.keyboard.type("shop");
    await page.getByText("1 breach matches").waitFor();
    await page.getByRole("link", { name: "Example Shop (invented)" }).click();
    await page.getByRole("heading", { level: 1, name: "Example Shop (invented)" }).waitFor();
    await isLoaded(page);
    await page.getByText("the online shop Example Shop left a backup of its customer").waitFor();
    await page.getByRole("listitem").filter({ hasText: "Passwords" }).first().waitFor();
    await page.getByText("Secrets that open accounts leaked").waitFor();
    for (const name of ["grace", "donald"]) {
      await page.getByRole("button", { name: `${name}@demo.example` }).waitFor();
    }

    await page.getByRole("button", { name: "Acknowledge all" }).click();
    const dialog = page.getByRole("dialog", { name: "Acknowledge 2 findings" });
    await dialog.getByText("2 open findings of Example Shop (invented), on every page.").waitFor();
    await dialog.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByText("All 2 handled.").waitFor();
    await page.getByRole("heading", { level: 1, name: "Example Shop (invented)" }).waitFor();
    expect((await api.get("/breaches?acknowledged=true")).body.total).toBe(2);

    await page.getByRole("main").getByRole("button", { name: "Reopen" }).first().click();
    const asked = page.getByRole("dialog", { name: "Reopen 2 findings" });
    await asked.getByRole("button", { name: "Reopen" }).click();
    await page.getByRole("button", { name: "grace@demo.example" }).waitFor();
    expect((await api.get("/breaches?acknowledged=true")).body.total).toBe(0);
  });
});
