import { expect, test } from "vitest";
import { addEmail, numberedAddresses } from "../endpoints/emails.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { focused, press } from "./keyboard.ts";
import { signInTo, useBrowser } from "./visit.ts";

useBrowser();

/** A file of six rows, two in each part: the page sends at most a quarter of a megabyte at once. */
const longRows = ["email,notes", ...numberedAddresses(6).map((each) => `${each},${"x".repeat(100_000)}`)];

test("the keyboard imports a file after a preview of rows, columns, teams and price", async () => {
  const { api, domainId, ...organization } = await createOrganization();
  await addEmail(api, domainId, "watched@demo.example");
  const { page } = await signInTo(organization);
  await press(page, "Import");
  const dialog = page.getByRole("dialog", { name: "Import addresses" });
  await dialog.waitFor();
  // The window in which a file is chosen belongs to the browser.
  const field = page.locator(":focus");
  expect(await field.getAttribute("name")).toBe("file");
  const choose = (buffer: Buffer) =>
    field.setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
  // What a workbook is called does not depend on its size.
  for (const size of [10, 3_000_000]) {
    await choose(Buffer.concat([Buffer.from("504b03041400", "hex"), Buffer.alloc(size, "x")]));
    await dialog.getByText("Save a workbook as CSV UTF-8.").waitFor();
    await choose(Buffer.from("first@demo.example"));
    await dialog.getByText("1 row: 1 to import").waitFor();
  }
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
  const all = "1 malformed, 1 of another domain, 1 repeated, 2 to import, 1 already watched";
  await dialog.getByText(`6 rows: ${all}`).waitFor();
  await dialog.getByText("Columns that are read: email, name, department; ignored: phone").waitFor();
  await dialog.getByText("1 row has no address and will not be imported: Bob").waitFor();
  await dialog.getByText("Teams that will be created: Navy").waitFor();
  expect(await dialog.getByRole("rowheader").allInnerTexts()).toEqual([
    "no address",
    "somebody@other.example",
    "grace@demo.example",
    "grace@demo.example",
    "alan@demo.example",
    "watched@demo.example",
  ]);
  const status = (text: string) => dialog.getByRole("row").filter({ hasText: text });
  await status("alan@demo.example").getByText("Will be imported").waitFor();
  await dialog.getByText("Already further up in the file").waitFor();
  expect(await note.count()).toBe(0);
  await status("watched@demo.example").getByText("Already watched").waitFor();
  await status("somebody@other.example").getByText("Not at a domain that you have verified").waitFor();
  await dialog.getByText("3 addresses are watched").waitFor();
  expect((await api.get("/emails")).body.total).toBe(1);

  await press(page, "Import 2 addresses");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("row").filter({ hasText: "alan@demo.example" }).getByText("Alan").last().waitFor();
  expect(await focused(page)).toBe("Import");
  expect((await api.get("/emails")).body.total).toBe(3);
});

test("a large file is imported in parts: Stop leaves whole ones, a change asks again", async () => {
  const { api, domainId, ...organization } = await createOrganization();
  await addEmail(api, domainId, "left@demo.example");
  const { page, watch } = await signInTo(organization);
  // The first part leaves once somebody wants to stop after it. Before the last one, somebody adds an address.
  const isStopped = Promise.withResolvers<void>();
  let commits = 0;
  await page.route("**/emails/import/commit", async (route) => {
    commits += 1;
    if (commits === 1) await isStopped.promise;
    if (commits === 2) await addEmail(api, domainId, "meanwhile@demo.example");
    await route.continue();
  });
  const dialog = page.getByRole("dialog", { name: "Import addresses" });
  const button = (name: string) => dialog.getByRole("button", { name });
  const buffer = Buffer.from(longRows.join("\n"));
  const choose = async () => {
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await dialog.getByLabel("File").setInputFiles({ name: "all.csv", mimeType: "text/csv", buffer });
  };
  await choose();
  await dialog.getByText("6 rows: 6 to import").waitFor();
  await dialog.getByText("7 addresses are watched").waitFor();
  await button("Import 6 addresses").click();
  await button("Stop after this part").click();
  isStopped.resolve();
  await page.getByText("Imported 2 addresses. You stopped it").waitFor();
  expect((await api.get("/emails")).body.total).toBe(3);

  watch.expect("409 /api/v1/emails/import/commit");
  await choose();
  await dialog.getByText("4 to import, 2 already watched").waitFor();
  await button("Import 4 addresses").click();
  await dialog.getByText("Something has changed since the preview.").waitFor();
  await dialog.getByText("8 addresses are watched").waitFor();
  expect((await api.get("/emails")).body.total).toBe(4);
  // It still knows who is in the whole file.
  await button("Disable those who are missing from this file").click();
  const leavers = page.getByRole("dialog", { name: "Disable those who are missing from this file" });
  await leavers.getByText(/^2 of 4 enabled addresses of the file's domains are not in it\./).waitFor();
  await leavers.getByRole("button", { name: "Cancel" }).click();
  await button("Import 4 addresses").click();
  await page.getByText("Imported 4 addresses.").waitFor();
  expect((await api.get("/emails")).body.total).toBe(8);
});

test("people who have left can be left out; a price is shown if there is one", async () => {
  const { api, ...organization } = await createOrganization({ "seat-price-cents": "250" });
  const { page } = await signInTo(organization);
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Import addresses" });
  const rows = numberedAddresses(6).map((each, at) => `${each},${at % 2 ? "Suspended" : "Active"}`);
  const long = [["email", "status", "note"], ...rows.map((row) => [row, "x".repeat(100_000)])];
  const buffer = Buffer.from(long.map((cells) => cells.join(",")).join("\n"));
  await dialog.getByLabel("File").setInputFiles({ name: "all.csv", mimeType: "text/csv", buffer });
  await dialog.getByText("6 rows: 6 to import").waitFor();
  await dialog.getByText("6 seats are paid: +12.50 per month, an estimate").waitFor();
  const choice = dialog.getByLabel("Leave out 3 addresses of people who have left or are suspended");
  await dialog.getByText(`${numberedAddresses(2)[1]} (status: Suspended)`).waitFor();
  await choice.check();
  await dialog.getByText("3 rows: 3 to import").waitFor();
  await dialog.getByText("3 seats are paid: +5.00 per month").waitFor();
  await choice.uncheck();
  await dialog.getByText("6 rows: 6 to import").waitFor();
  await choice.check();
  await dialog.getByRole("button", { name: "Import 3 addresses" }).click();
  await page.getByText("Imported 3 addresses.").waitFor();
  const emails = await api.list("/emails");
  const here = numberedAddresses(6).filter((_, at) => at % 2 === 0);
  expect(emails.map(({ email }) => email).sort()).toEqual(here.sort());
});

test("another file takes the place of one that is read; a lost part is sent again", async () => {
  const { api, ...organization } = await createOrganization();
  const { page, watch } = await signInTo(organization);
  watch.expect("ERR_INTERNET_DISCONNECTED /api/v1/emails/import/commit");
  let [previews, commits] = [0, 0];
  await page.route("**/emails/import/preview?*", (route) =>
    ++previews === 1 ? undefined : route.continue(),
  );
  // The second part is imported, and nobody learns of it.
  await page.route("**/emails/import/commit", async (route) => {
    if (++commits !== 2) return route.continue();
    await route.fetch();
    await route.abort("internetdisconnected");
  });
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Import addresses" });
  const choose = (lines: readonly string[]) => {
    const buffer = Buffer.from(lines.join("\n"));
    return dialog.getByLabel("File").setInputFiles({ name: "all.csv", mimeType: "text/csv", buffer });
  };
  await choose(numberedAddresses(1));
  await expect.poll(() => previews).toBe(1);
  await choose(longRows);
  await dialog.getByRole("button", { name: "Import 6 addresses" }).click();
  await dialog.getByText("The service cannot be reached.").waitFor();
  await dialog.getByText("4 rows: 4 to import").waitFor();
  watch.expect("400 /api/v1/emails/import/commit");
  await dialog.getByRole("button", { name: "Import 4 addresses" }).click();
  await dialog.getByText("4 rows: 2 to import, 2 already watched").waitFor();
  await dialog.getByRole("button", { name: "Import 2 addresses" }).click();
  await page.getByText("Imported 2 addresses.").waitFor();
  expect((await api.get("/emails")).body.total).toBe(6);
});

test("the keyboard disables those who are missing from a file, once they are named", async () => {
  const { id: org, api, domainId, ...organization } = await createOrganization();
  for (const name of ["stays", "left", "gone"]) await addEmail(api, domainId, `${name}@demo.example`);
  const other = await admin("domain add", { org, name: `other-${org}.example`, verified: true });
  await addEmail(api, other.id, `elsewhere@other-${org}.example`);
  const { page } = await signInTo({ id: org, ...organization });
  const disable = "Disable those who are missing from this file";
  await press(page, "Import");
  await page.getByRole("dialog", { name: "Import addresses" }).waitFor();
  const buffer = Buffer.from("stays@demo.example\nnew@demo.example\n");
  await page.locator(":focus").setInputFiles({ name: "all.txt", mimeType: "text/plain", buffer });
  await page.getByRole("button", { name: disable }).waitFor();
  await press(page, disable);
  const leavers = page.getByRole("dialog", { name: disable });
  await leavers.getByText("2 of 3 enabled addresses of the file's domains are not in it.").waitFor();
  const missing = ["gone@demo.example", "left@demo.example"];
  expect((await leavers.getByRole("listitem").allInnerTexts()).sort()).toEqual(missing);
  expect((await api.get("/emails?isActive=false")).body.total).toBe(0);
  await press(page, "Disable 2 addresses");
  await leavers.waitFor({ state: "detached" });
  await page.getByText("3 addresses are watched").waitFor();
  const emails = await api.list("/emails?isActive=false");
  expect(emails.map(({ email }) => email).sort()).toEqual(missing);
  expect(await focused(page)).toBe(disable);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await focused(page)).toBe("Import");
});
