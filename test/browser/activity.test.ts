import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization } from "../service/organization.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

describe("Activity", () => {
  test("shows who did what, and only the chosen category", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId, "ada@demo.example");
    const { page, user } = await signInTo(organization);
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("button", { name: "Enable" }).waitFor();
    await go(page, "Settings");
    await page.getByRole("tab", { name: "Teams" }).click();
    await page.getByRole("button", { name: "Add team" }).click();
    const dialog = page.getByRole("dialog", { name: "Add team" });
    await dialog.getByLabel("Name").fill("Finance");
    await dialog.getByRole("button", { name: "Add team" }).click();
    await dialog.waitFor({ state: "detached" });

    await go(page, "Activity");
    const team = page.getByRole("row").filter({ hasText: "Created the team Finance" });
    await team.getByText(user.email).waitFor();
    const key = page.getByRole("row").filter({ hasText: "Created the API key" });
    await key.waitFor();
    await page.getByLabel("Category").selectOption("Teams");
    await key.waitFor({ state: "detached" });
    await team.waitFor();
    expect(new URL(page.url()).searchParams.get("category")).toBe("teams");
    await page.getByLabel("Category").selectOption("Alerts");
    await page.getByText("There is no activity in this category.").waitFor();
  });
});
