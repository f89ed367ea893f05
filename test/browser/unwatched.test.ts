import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { go, isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

describe("In breaches, not watched", () => {
  test("Domains counts them; one is ignored, one is watched once its price was shown", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId, "grace@demo.example");
    await scan(api);
    const { page } = await signInTo(organization);
    await go(page, "Domains");
    await page.getByRole("link", { name: /^In breaches, not watched: \d+$/ }).click();
    await page.getByRole("heading", { level: 1, name: "In breaches, not watched" }).waitFor();
    await isLoaded(page);
    const bar = page.getByRole("group", { name: "Selection" });
    const box = (name: string) => page.getByRole("checkbox", { name: `Select ${name}@demo.example` });
    await box("alan").check();
    await bar.getByRole("button", { name: "Ignore" }).click();
    await page.getByText("Ignored 1 address.").waitFor();
    await box("alan").waitFor({ state: "detached" });
    await page.getByLabel("State").selectOption("Ignored");
    await box("alan").waitFor();
    await page.getByLabel("State").selectOption("To decide");

    await box("ada").check();
    await bar.getByRole("button", { name: "Watch" }).click();
    const dialog = page.getByRole("dialog", { name: "Watch 1 address" });
    await dialog.getByText("2 addresses are watched").waitFor();
    await dialog.getByRole("button", { name: "Watch" }).click();
    await page.getByText("Added 1 address. Findings follow with the next scan.").waitFor();
    await box("ada").waitFor({ state: "detached" });
    const { emails } = (await api.get("/emails")).body;
    expect((emails as { email: string }[]).map(({ email }) => email)).toContain("ada@demo.example");
  });
});
