import { describe, expect, test } from "vitest";
import { addEmail, numberedAddresses } from "../endpoints/emails.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { signInTo, useBrowser } from "./visit.ts";

useBrowser();

describe("the list of e-mails", () => {
  test("many addresses come in pages, and a filter instead of scrolling", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    const file = await writeAddresses(numberedAddresses(120));
    await admin("email import", { org: organization.id, file });
    const id = await addEmail(api, domainId, "off@demo.example");
    await api.patch(`/emails/${id}`, { isActive: false });
    const { page } = await signInTo(organization);
    await page.getByText("1–50 of 121").waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("101–121 of 121").waitFor();
    expect(await page.getByRole("button", { name: "Next" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Previous" }).click();
    await page.getByText("51–100 of 121").waitFor();
    await page.getByLabel("State").selectOption("Disabled");
    await page.getByText("1 address matches").waitFor();
    await page.getByRole("rowheader", { name: "off@demo.example" }).waitFor();
  });

  test("a filter stands in the url: it survives a reload, and Back undoes it", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId, "on@demo.example");
    const id = await addEmail(api, domainId, "off@demo.example");
    await api.patch(`/emails/${id}`, { isActive: false });
    const { page } = await signInTo(organization);
    const on = page.getByRole("rowheader", { name: "on@demo.example" });
    const off = page.getByRole("rowheader", { name: "off@demo.example" });
    await on.waitFor();
    await page.getByLabel("State").selectOption("Disabled");
    await on.waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("isActive")).toBe("false");
    await page.reload();
    await off.waitFor();
    expect(await on.count()).toBe(0);
    await page.goBack();
    await on.waitFor();
    await off.waitFor();
  });

  test("the search finds an owner while people type, and its text stands in the url", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await api.post("/emails", { email: "al@demo.example", domainId, ownerName: "Grace Hopper" });
    await addEmail(api, domainId, "ada@demo.example");
    const { page } = await signInTo(organization);
    const hopper = page.getByRole("rowheader", { name: "al@demo.example" });
    const ada = page.getByRole("rowheader", { name: "ada@demo.example" });
    await ada.waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("h");
    await page.getByText("Type at least two characters").waitFor();
    await page.keyboard.type("op");
    await ada.waitFor({ state: "detached" });
    await hopper.waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("hop");
    await page.reload();
    await hopper.waitFor();
    expect(await page.getByLabel("Search").inputValue()).toBe("hop");
    await page.getByLabel("Search").fill("nobody");
    await page.getByRole("link", { name: "Show all addresses" }).click();
    await ada.waitFor();
    expect(await page.getByLabel("Search").inputValue()).toBe("");
  });

  test("many are put into a team, disabled, enabled and removed at once", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    for (const name of ["ada", "grace", "alan"]) await addEmail(api, domainId, `${name}@demo.example`);
    const { page } = await signInTo(organization);
    const bar = page.getByRole("group", { name: "Selection" });
    const select = async (...names: string[]) => {
      for (const name of names) {
        await page.getByRole("checkbox", { name: `Select ${name}@demo.example` }).check();
      }
      await bar.getByText(`${names.length} selected`).waitFor();
    };
    const states = async () =>
      Object.fromEntries(
        ((await api.get("/emails")).body.emails as { email: string; isActive: boolean }[]).map(
          ({ email, isActive }) => [email.split("@")[0], isActive],
        ),
      );
    await page.getByRole("rowheader", { name: "ada@demo.example" }).waitFor();
    await page.evaluate(
      `fetch("/api/dashboard/teams", { method: "POST", body: '{"name":"Finance"}', headers: { "Content-Type": "application/json" } })`,
    );
    await select("ada", "grace");
    await bar.getByRole("button", { name: "Team" }).click();
    const dialog = page.getByRole("dialog", { name: "Team of 2 addresses" });
    await dialog.getByLabel("Team").selectOption("Finance");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Changed the team of 2 addresses.").waitFor();
    await expect.poll(() => page.getByRole("cell", { name: "Finance" }).count()).toBe(2);

    await select("ada", "alan");
    await bar.getByRole("button", { name: "Disable" }).click();
    await page.getByText("Disabled 2 addresses.").waitFor();
    expect(await states()).toEqual({ ada: false, alan: false, grace: true });
    await select("ada", "grace");
    await bar.getByRole("button", { name: "Enable" }).click();
    await page.getByText("Enabled 1 address; skipped 1: already enabled").waitFor();
    expect(await states()).toEqual({ ada: true, alan: false, grace: true });

    await select("alan", "grace");
    await bar.getByRole("button", { name: "Remove" }).click();
    const asked = page.getByRole("dialog", { name: "Remove 2 addresses?" });
    await asked.getByRole("button", { name: "Remove" }).click();
    await page.getByText("Removed 2 addresses.").waitFor();
    expect(await states()).toEqual({ ada: true });
  });

  test("a filter of more than 20 choices is searched", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId, "ada@demo.example");
    const { page } = await signInTo(organization);
    await page.evaluate(`Promise.all(Array.from({ length: 21 }, (_, index) =>
      fetch("/api/dashboard/domains", { method: "POST", body: JSON.stringify({ name: "number-" + index + ".example" }),
        headers: { "Content-Type": "application/json" } })))`);
    const domain = page.getByLabel("Domain");
    await domain.focus();
    await page.getByRole("combobox", { name: "Domain" }).and(page.locator("input:focus")).waitFor();
    await page.keyboard.type("number-2");
    await page.keyboard.press("Enter");
    await page.getByText("No address matches these filters.").waitFor();
    expect(await domain.inputValue()).toMatch(/^number-2/);
    await domain.fill("demo.exa");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "ada@demo.example" }).waitFor();
    expect(await domain.inputValue()).toBe("demo.example");
  });
});
