import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { focused, follow, press } from "./keyboard.ts";
import { createUser, isLoaded, linkFor, signInTo, useBrowser, visit } from "./visit.ts";

useBrowser();

describe("the keyboard alone", () => {
  test("Tab reaches the navigation in its order; Enter goes to a page and its heading", async () => {
    const { page } = await signInTo(await createOrganization());
    await page.reload();
    await isLoaded(page);
    await page.getByRole("heading", { level: 1, name: "E-mails" }).waitFor();
    const reached: string[] = [];
    for (let presses = 0; presses < 10; presses += 1) {
      await page.keyboard.press("Tab");
      reached.push(await focused(page));
    }
    expect(reached).toEqual([
      "Skip to the content",
      "Overview",
      "Findings",
      "Breaches",
      "E-mails",
      "Domains",
      "Scans",
      "Alerts",
      "Activity",
      "Settings",
    ]);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Activity" }).waitFor();
    await page.locator("h1:focus").waitFor();
    expect(await focused(page)).toBe("Activity");
  });

  test("keeps the focus where people have gone while a page loads", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId);
    await scan(api);
    const { page } = await signInTo(organization);
    await follow(page, "Breaches");
    const isThere = Promise.withResolvers<void>();
    await page.route("**/api/dashboard/findings?*", async (route) => {
      await isThere.promise;
      await route.continue();
    });
    const first = page.getByRole("rowheader").first().getByRole("link");
    const title = await first.innerText();
    await first.click();
    await page.getByRole("combobox", { name: "State" }).focus();
    isThere.resolve();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await page.getByRole("rowheader").first().waitFor();
    await page.getByRole("combobox", { name: "State" }).and(page.locator(":focus")).waitFor();
  });

  test("signs in with a link, acknowledges a finding, and signs out", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId);
    await scan(api);
    const { page } = await visit();
    await page.goto(await linkFor(await createUser(organization.id)));
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await press(page, "Sign in");
    await page.getByRole("heading", { name: "Breaches with the most open findings" }).waitFor();
    await follow(page, "Findings");
    await press(page, "ada@demo.example");
    await page.getByRole("dialog").getByText("Breached", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("ada@demo.example");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Space");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    expect(await focused(page)).toBe("Acknowledge");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("i");
    await page.keyboard.press("Tab");
    await page.keyboard.type("It is an old address");
    await press(page, "Acknowledge");
    await page.getByText("Acknowledged 1 finding.").waitFor();
    const { breaches } = (await api.get("/breaches?acknowledged=true")).body;
    expect(breaches).toMatchObject([{ resolution: "ignored", acknowledgeReason: "It is an old address" }]);
    await press(page, "Sign out");
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  });
});
