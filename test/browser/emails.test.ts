import { describe, expect, test } from "vitest";
import { addEmail, numberedAddresses } from "../endpoints/emails.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

describe("E-mails", () => {
  test("an address is added, disabled, enabled, and removed once that is confirmed", async () => {
    const { api, ...organization } = await createOrganization();
    const { page, watch } = await signInTo(organization);
    await page.getByText("No address is watched yet.").waitFor();

    const add = async () => {
      await page.getByRole("button", { name: "Add e-mail" }).click();
      const dialog = page.getByRole("dialog", { name: "Add e-mail" });
      await dialog.getByLabel("E-mail address").fill("ada@demo.example");
      await dialog.getByLabel("Owner").fill("Ada");
      await dialog.getByRole("button", { name: "Add e-mail" }).click();
      return dialog;
    };
    await (await add()).waitFor({ state: "detached" });
    const row = page.getByRole("row").filter({ hasText: "ada@demo.example" });
    await row.waitFor();
    await page.getByText("1 address", { exact: true }).waitFor();
    expect((await api.get("/emails")).body).toMatchObject({
      emails: [{ email: "ada@demo.example", ownerName: "Ada", isActive: true }],
    });

    watch.expect("409 /api/v1/emails");
    const dialog = await add();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();

    await row.getByRole("button", { name: "Disable" }).click();
    await row.getByText("Disabled", { exact: true }).waitFor();
    expect((await api.get("/emails")).body).toMatchObject({ emails: [{ isActive: false }] });
    await row.getByRole("button", { name: "Enable" }).click();
    await row.getByText("Enabled", { exact: true }).waitFor();
    expect((await api.get("/emails")).body).toMatchObject({ emails: [{ isActive: true }] });

    const asked = page.getByRole("dialog", { name: "Remove ada@demo.example?" });
    await row.getByRole("button", { name: "Remove" }).click();
    await asked.getByRole("button", { name: "Cancel" }).click();
    await asked.waitFor({ state: "detached" });
    expect((await api.get("/emails")).body.total).toBe(1);
    await row.getByRole("button", { name: "Remove" }).click();
    await asked.getByRole("button", { name: "Remove" }).click();
    await page.getByText("No address is watched yet.").waitFor();
    expect((await api.get("/emails")).body.total).toBe(0);
  });

  test("a file is imported after a preview of its rows, columns, new teams and the price", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId, "watched@demo.example");
    const { page } = await signInTo(organization);
    await page.getByRole("button", { name: "Import" }).click();
    const dialog = page.getByRole("dialog", { name: "Import addresses" });
    const choose = (buffer: Buffer) =>
      dialog.getByLabel("File").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
    const note = dialog.getByText("was read as Windows-1252");
    await choose(Buffer.from("email,name\nj@demo.example,J\xfcrgen\n", "latin1"));
    await note.waitFor();
    await dialog.getByText("Jürgen").waitFor();
    const lines = [
      "email,name,department,phone",
      "grace@demo.example,Grace,Navy,1",
      "watched@demo.example,,Navy,2",
      "grace@demo.example,Grace,Navy,3",
      "somebody@other.example,,,4",
      "no address,,,5",
      "alan@demo.example,Alan,,6",
      ",Bob,Navy,7",
    ];
    await choose(Buffer.from(lines.join("\n")));
    const all = "1 malformed, 1 of another domain, 1 repeated, 1 already watched, 2 to import";
    await dialog.getByText(`6 rows: ${all}`).waitFor();
    await dialog.getByText("Columns that are read: email, name, department; ignored: phone").waitFor();
    await dialog.getByText("1 row has no address and will not be imported: Bob").waitFor();
    await dialog.getByText("Teams that will be created: Navy").waitFor();
    expect(await dialog.getByRole("rowheader").allInnerTexts()).toEqual([
      "no address",
      "somebody@other.example",
      "grace@demo.example",
      "watched@demo.example",
      "grace@demo.example",
      "alan@demo.example",
    ]);
    const status = (text: string) => dialog.getByRole("row").filter({ hasText: text });
    await status("alan@demo.example").getByText("Will be imported").waitFor();
    await dialog.getByText("Already further up in the file").waitFor();
    expect(await note.count()).toBe(0);
    await status("watched@demo.example").getByText("Already watched").waitFor();
    await status("somebody@other.example").getByText("Not at a domain that you have verified").waitFor();
    await dialog.getByText("3 addresses are watched").waitFor();
    expect((await api.get("/emails")).body.total).toBe(1);

    await dialog.getByRole("button", { name: "Import 2 addresses" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("row").filter({ hasText: "alan@demo.example" }).getByText("Alan").last().waitFor();
    expect((await api.get("/emails")).body.total).toBe(3);
  });

  test("a file of 1,100 addresses is imported in parts; Stop leaves whole parts", async () => {
    const { api, ...organization } = await createOrganization();
    const { page } = await signInTo(organization);
    const buffer = Buffer.from(numberedAddresses(1100).join("\n"));
    const dialog = page.getByRole("dialog", { name: "Import addresses" });
    const choose = async () => {
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await dialog.getByLabel("File").setInputFiles({ name: "all.txt", mimeType: "text/plain", buffer });
    };
    await choose();
    await dialog.getByText("1,100 rows: 1,100 to import").waitFor();
    await dialog.getByText("1,100 addresses are watched").waitFor();
    await dialog.getByRole("button", { name: "Import 1,100 addresses" }).click();
    await dialog.getByRole("button", { name: "Stop after this part" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText(/^Imported (500|1,000) addresses\. You stopped it/).waitFor();
    const total = (await api.get("/emails")).body.total as number;
    expect([500, 1000]).toContain(total);

    await choose();
    const rest = 1100 - total;
    await dialog.getByText(`${total.toLocaleString("en")} already watched`).waitFor();
    await dialog.getByRole("button", { name: `Import ${rest.toLocaleString("en")} addresses` }).click();
    await page.getByText(`Imported ${rest.toLocaleString("en")} addresses.`).waitFor();
    expect((await api.get("/emails")).body.total).toBe(1100);
  });

  test("those who are missing from a file are named, and disabled once that is confirmed", async () => {
    const { id: org, api, domainId, ...organization } = await createOrganization();
    for (const name of ["stays", "left", "gone"]) await addEmail(api, domainId, `${name}@demo.example`);
    const other = await admin("domain add", { org, name: `other-${org}.example`, verified: true });
    await addEmail(api, other.id, `elsewhere@other-${org}.example`);
    const { page } = await signInTo({ id: org, ...organization });
    await page.getByRole("button", { name: "Import" }).click();
    const dialog = page.getByRole("dialog", { name: "Import addresses" });
    const buffer = Buffer.from("stays@demo.example\nnew@demo.example\n");
    await dialog.getByLabel("File").setInputFiles({ name: "all.txt", mimeType: "text/plain", buffer });
    await dialog.getByRole("button", { name: "Disable those who are missing from this file" }).click();
    const leavers = page.getByRole("dialog", { name: "Disable those who are missing from this file" });
    await leavers.getByText("2 of 3 enabled addresses of the file's domains are not in it.").waitFor();
    expect((await leavers.getByRole("listitem").allInnerTexts()).sort()).toEqual([
      "gone@demo.example",
      "left@demo.example",
    ]);
    expect((await api.get("/emails?isActive=false")).body.total).toBe(0);
    await leavers.getByRole("button", { name: "Disable 2 addresses" }).click();
    await leavers.waitFor({ state: "detached" });
    const { emails } = (await api.get("/emails?isActive=false")).body as { emails: { email: string }[] };
    expect(emails.map(({ email }) => email).sort()).toEqual(["gone@demo.example", "left@demo.example"]);
  });

  test("an import that asks again half-way still knows who is in the file", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId, "left@demo.example");
    const { page, watch } = await signInTo(organization);
    let commits = 0;
    await page.route("**/emails/import/commit", async (route) => {
      commits += 1;
      if (commits === 2) await addEmail(api, domainId, "meanwhile@demo.example");
      await route.continue();
    });
    await page.getByRole("button", { name: "Import", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Import addresses" });
    const buffer = Buffer.from(numberedAddresses(510).join("\n"));
    await dialog.getByLabel("File").setInputFiles({ name: "all.txt", mimeType: "text/plain", buffer });
    watch.expect("409 /api/v1/emails/import/commit");
    await dialog.getByRole("button", { name: "Import 510 addresses" }).click();
    await dialog.getByText("Something has changed since the preview.").waitFor();
    await dialog.getByRole("button", { name: "Import 10 addresses" }).waitFor();
    await dialog.getByRole("button", { name: "Disable those who are missing from this file" }).click();
    const leavers = page.getByRole("dialog", { name: "Disable those who are missing from this file" });
    await leavers.getByText(/^2 of 502 enabled addresses of the file's domains are not in it\./).waitFor();
  });

  test("an import whose quote changed after the preview asks again with the new one", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId, "first@demo.example");
    const { page, watch } = await signInTo(organization);
    await page.getByRole("button", { name: "Import" }).click();
    const dialog = page.getByRole("dialog", { name: "Import addresses" });
    const buffer = Buffer.from("grace@demo.example\nalan@demo.example\n");
    await dialog.getByLabel("File").setInputFiles({ name: "people.txt", mimeType: "text/plain", buffer });
    await dialog.getByText("3 addresses are watched").waitFor();

    await addEmail(api, domainId, "grace@demo.example");
    await addEmail(api, domainId, "meanwhile@demo.example");
    watch.expect("409 /api/v1/emails/import/commit");
    await dialog.getByRole("button", { name: "Import 2 addresses" }).click();
    await dialog.getByText("Something has changed since the preview.").waitFor();
    await dialog.getByText("4 addresses are watched").waitFor();
    expect((await api.get("/emails")).body.total).toBe(3);
    await dialog.getByRole("button", { name: "Import 1 address", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await api.get("/emails")).body.total).toBe(4);
  });

  test.each([
    ["of 200 characters", "N".repeat(200)],
    ["from right to left", "\u202eمها الشريف <b>"],
    ["that is a script", "<script>document.title = 'run'</script>"],
  ])("a name %s is text, and widens no page", async (_, name) => {
    const { api, domainId, ...organization } = await createOrganization({ name: name.slice(0, 100) });
    const email = `${"a".repeat(64)}@demo.example`;
    expect(await api.post("/emails", { email, domainId, ownerName: name })).toMatchObject({ status: 201 });
    const { page } = await signInTo(organization);
    const row = page.getByRole("row").filter({ hasText: email });
    expect(await row.getByTitle(name).textContent()).toBe(name);
    expect(await page.getByRole("banner").locator(".organization").textContent()).toBe(name.slice(0, 100));
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    }
    expect(await page.title()).toBe("E-mails · Breach Monitor");
  });

  test("a page of an address has its findings; errors stand beside their field", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId, "ada@demo.example");
    await scan(api);
    const { page } = await signInTo(organization);
    await page.getByRole("link", { name: "ada@demo.example" }).click();
    await page.getByRole("heading", { level: 1, name: "ada@demo.example" }).waitFor();
    await page.getByRole("link", { name: "Example Shop (invented)" }).waitFor();
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByText("ada@demo.example is disabled.").waitFor();

    await go(page, "E-mails");
    await page.getByRole("button", { name: "Add e-mail" }).click();
    const dialog = page.getByRole("dialog", { name: "Add e-mail" });
    await dialog.getByRole("button", { name: "Add e-mail" }).click();
    await dialog.getByRole("alert").filter({ hasText: "E-mail address is missing." }).waitFor();
    expect(await dialog.getByLabel("E-mail address").getAttribute("aria-invalid")).toBe("true");
    expect(await page.locator(":focus").getAttribute("name")).toBe("email");
  });
});
