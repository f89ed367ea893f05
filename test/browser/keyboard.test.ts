import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { focused, follow, press } from "./keyboard.ts";
import { mailedLink } from "./mailed-link.ts";
import { createUser, isLoaded, linkFor, signInTo, urlOf, useBrowser, visit } from "./visit.ts";

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

  test("adds and removes an address; Esc closes a dialog and gives the focus back", async () => {
    const { api, ...organization } = await createOrganization();
    const { page } = await signInTo(organization);
    const dialog = page.getByRole("dialog");
    await press(page, "Add e-mail");
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Add e-mail");

    await page.keyboard.press("Enter");
    await dialog.waitFor();
    expect(await page.locator(":focus").getAttribute("name")).toBe("email");
    await page.keyboard.type("ada@demo.example");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("rowheader", { name: "ada@demo.example" }).waitFor();
    await press(page, "Remove");
    await page.getByRole("dialog", { name: "Remove ada@demo.example?" }).waitFor();
    await press(page, "Remove");
    await page.getByText("No address is watched yet.").waitFor();
    expect((await api.get("/emails")).body.total).toBe(0);
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

  test("signs in with a mailed link", async () => {
    const { email } = await createUser((await createOrganization()).id);
    const { page } = await visit();
    await page.goto(urlOf("/sign-in"));
    await page.getByLabel("E-mail address").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").getAttribute("name")).toBe("email");
    await page.keyboard.type(email);
    await press(page, "Send sign-in link");
    await page.getByText("a sign-in link is on its way").waitFor();
    await page.goto(await mailedLink(email));
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await press(page, "Sign in");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });

  test("acknowledges a breach as a whole, undoes that, and tells its owners", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    for (const name of ["grace", "donald"]) await addEmail(api, domainId, `${name}@demo.example`);
    await scan(api);
    const { page } = await signInTo(organization);
    await follow(page, "Breaches");
    await press(page, "Example Shop (invented)");
    await page.getByRole("heading", { level: 1, name: "Example Shop (invented)" }).waitFor();
    await isLoaded(page);
    await press(page, "Acknowledge all");
    await page.getByRole("dialog", { name: "Acknowledge 2 findings" }).waitFor();
    await press(page, "Acknowledge");
    await page.getByText("All 2 handled.").waitFor();
    expect((await api.get("/breaches?acknowledged=true")).body.total).toBe(2);
    await page.keyboard.press("z");
    await page.getByRole("button", { name: "grace@demo.example" }).waitFor();
    expect((await api.get("/breaches?acknowledged=true")).body.total).toBe(0);
    await press(page, "Tell all owners");
    await page.getByText("2 people get an e-mail at the breached address.").waitFor();
    await press(page, "Tell the owners");
    await page.getByText("2 e-mails are on the way.").waitFor();
  });

  test("ignores and watches breached addresses", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    for (const name of ["grace", "barbara"]) await addEmail(api, domainId, `${name}@demo.example`);
    await scan(api);
    const { page } = await signInTo(organization);
    await page.goto(urlOf("/domains/unwatched"));
    await isLoaded(page);
    const select = async () => {
      for (const key of ["j", "x"]) await page.keyboard.press(key);
      await page.getByText("1 selected").waitFor();
    };
    await select();
    await press(page, "Ignore");
    await page.getByText("Ignored 1 address.").waitFor();
    await select();
    await press(page, "Watch");
    await page.getByText("3 addresses are watched").waitFor();
    await press(page, "Watch");
    await page.getByText("Added 1 address.").waitFor();
    expect((await api.get("/emails")).body.total).toBe(3);
  });

  test("imports a file", async () => {
    const { api, ...organization } = await createOrganization();
    const { page } = await signInTo(organization);
    await press(page, "Import");
    const dialog = page.getByRole("dialog", { name: "Import addresses" });
    await dialog.waitFor();
    // The window in which a file is chosen belongs to the browser.
    const field = page.locator(":focus");
    expect(await field.getAttribute("name")).toBe("file");
    const buffer = Buffer.from("email,name\nada@demo.example,Ada\ngrace@demo.example,Grace\n");
    await field.setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
    await dialog.getByText("2 addresses are watched").waitFor();
    await press(page, "Import 2 addresses");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("rowheader", { name: "grace@demo.example" }).waitFor();
    expect(await focused(page)).toBe("Import");
    expect((await api.get("/emails")).body.total).toBe(2);
  });
});
