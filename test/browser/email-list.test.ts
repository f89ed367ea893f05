import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { signedIn } from "../dashboard/signed-in.ts";
import { addEmail, numberedAddresses } from "../endpoints/emails.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { createScanned } from "../service/scanned.ts";
import { press } from "./keyboard.ts";
import { signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

test("many addresses come in pages of 50 or 100 rows, as the browser keeps it", async () => {
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
  await page.getByLabel("Rows").selectOption("100");
  await page.getByText("1–100 of 121").waitFor();
  await page.reload();
  await page.getByText("1–100 of 121").waitFor();
  await page.goto(urlOf("/emails?offset=5000"));
  await page.getByText("Nothing from 5,001 on; 121 in all").waitFor();
  await page.getByRole("button", { name: "Previous" }).click();
  await page.getByText("22–121 of 121").waitFor();
  await page.getByLabel("Rows").selectOption("50");
  await page.getByText("1–50 of 121").waitFor();
  await page.getByLabel("State").selectOption("Disabled");
  await page.getByText("1 address matches").waitFor();
  await page.getByRole("rowheader", { name: "off@demo.example" }).waitFor();
});

test("search and filter stand in the url; an owner is found while people type", async () => {
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
  await page.getByLabel("State").selectOption("Enabled");
  await page.getByLabel("Search").fill("hop");
  await ada.waitFor({ state: "detached" });
  expect(new URL(page.url()).searchParams.get("isActive")).toBe("true");
  await page.reload();
  await hopper.waitFor();
  expect(await page.getByLabel("State").inputValue()).toBe("true");
  await page.goBack();
  await ada.waitFor();
  expect(await page.getByLabel("Search").inputValue()).toBe("");
});

test("the keyboard puts many into a team, disables, enables and removes them", async () => {
  const { id: org, api, domainId } = await createOrganization();
  for (const name of ["ada", "grace", "alan"]) await addEmail(api, domainId, `${name}@demo.example`);
  await admin("team create", { org, name: "Finance" });
  const { page } = await signInTo({ id: org });
  await page.getByRole("rowheader", { name: "ada@demo.example" }).waitFor();
  const states = async () =>
    Object.fromEntries(
      (await api.list("/emails")).map(({ email, isActive }) => [email.split("@")[0], isActive]),
    );
  const change = async (keys: string, button: string, said: string, confirm?: () => Promise<void>) => {
    // The keys go on where they were before.
    for (const key of `kkk${keys}`) await page.keyboard.press(key);
    await page.getByText("2 selected").waitFor();
    await press(page, button, null);
    await confirm?.();
    await page.getByText(said).waitFor();
    await page.locator("h1:focus").waitFor();
  };
  const dialog = page.getByRole("dialog");
  // Newest first: alan, grace, ada.
  await change("jxjx", "Team", "Changed the team of 2 addresses.", async () => {
    await dialog.getByRole("option", { name: "Finance" }).waitFor({ state: "attached" });
    await page.keyboard.press("f");
    await press(page, "Save");
  });
  await expect.poll(() => page.getByRole("cell", { name: "Finance" }).count()).toBe(2);
  await change("xjjx", "Disable", "Disabled 2 addresses.");
  expect(await states()).toEqual({ ada: false, alan: false, grace: true });
  await change("jxjx", "Enable", "Enabled 1 address; skipped 1: already enabled");
  expect(await states()).toEqual({ ada: true, alan: false, grace: true });
  await addEmail(api, domainId, "left@demo.example");
  await page.reload();
  await page.getByLabel("Select this page").check();
  await press(page, "Remove", "left@demo.example");
  await press(page, "Remove");
  await page.getByText("None selected").waitFor();
  await page.getByRole("rowheader", { name: "left@demo.example" }).waitFor({ state: "detached" });
  await change("xjx", "Remove", "Removed 2 addresses.", async () => {
    await page.getByRole("dialog", { name: "Remove 2 addresses?" }).waitFor();
    await press(page, "Remove");
  });
  expect(await states()).toEqual({ ada: true });
});

test("nothing is changed when one was removed meanwhile, and a notice in sight says it", async () => {
  const { api, domainId, ...organization } = await createOrganization();
  await addEmail(api, domainId, "ada@demo.example");
  const id = await addEmail(api, domainId, "gone@demo.example");
  const { page, watch } = await signInTo(organization);
  await page.getByLabel("Select this page").check();
  expect((await api.delete(`/emails?id=${id}`)).status).toBe(200);
  watch.expect("404 /api/dashboard/emails/changes");
  await page.setViewportSize({ width: 1280, height: 240 });
  await page.getByText("Breach data:").scrollIntoViewIfNeeded();
  await page
    .getByRole("group", { name: "Selection" })
    .getByRole("button", { name: "Disable", exact: true })
    .click();
  const refusal = page.getByText("Nothing was changed: one of these addresses was removed meanwhile.");
  // Whoever was at the end of the list sees it.
  await expect.poll(async () => (await refusal.boundingBox())?.y).toBeGreaterThan(0);
  await page.getByRole("rowheader", { name: "gone@demo.example" }).waitFor({ state: "detached" });
  await page.getByText("None selected").waitFor();
  expect((await api.get("/emails")).body).toMatchObject({ emails: [{ isActive: true }], total: 1 });
});

test("a filter of more than 20 choices is searched", async () => {
  const { api, domainId, ...organization } = await createOrganization();
  await addEmail(api, domainId, "ada@demo.example");
  for (let index = 0; index < 21; index += 1)
    await admin("domain add", { org: organization.id, name: `number-${index}.example` });
  const { page } = await signInTo(organization);
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

test("the most exposed people, and those of a team, are one click away", async () => {
  const { id: org, emailIds } = await createScanned(["ada", "alan", "grace", "nobody"]);
  const { page } = await signInTo({ id: org }, { place: "/" });
  const user = await signedIn(org);
  const { id: teamId } = await admin("team create", { org, name: "Finance" });
  await user.dashboard.post("/emails/changes", { ids: [emailIds[0], emailIds[3]], set: { teamId } });
  const listed = () => page.getByRole("rowgroup").last().getByRole("rowheader").allTextContents();
  await press(page, "Most exposed people");
  await page.getByText("3 addresses match").waitFor();
  const inOrder = (await user.dashboard.list("/emails?order=worst")).map(({ email }) => email);
  expect(await listed()).toEqual(inOrder.slice(0, 3));
  // In the order of exposure, rows move to pages that were read already.
  const asked = page.waitForRequest(/\/emails\?.*limit=100/);
  const saved = page.waitForEvent("download");
  await press(page, "Export CSV");
  expect(new URL((await asked).url()).searchParams.get("order")).toBe(null);
  const download = await saved;
  expect(download.suggestedFilename()).toMatch(/^e-mails-\d{4}-\d\d-\d\d\.csv$/);
  const rows: Record<string, string>[] = parse(await readFile(await download.path()), {
    bom: true,
    columns: true,
  });
  expect(rows.map(({ email }) => email)).toEqual(inOrder.slice(0, 3));
  expect((await user.v1.list("/activity"))[0]).toMatchObject({
    action: "emails.exported",
    summary: "Exported 3 e-mails (with open findings) as CSV",
  });

  await page.goto(urlOf("/settings/teams"));
  await press(page, "1 of 2 people has open findings");
  await page.getByText("1 address matches").waitFor();
  expect(await listed()).toEqual(["ada@demo.example"]);
  expect(await page.getByLabel("Team").locator("option:checked").textContent()).toBe("Finance");
  await page.getByLabel("Findings").selectOption("Without");
  await page.getByRole("rowheader", { name: "nobody@demo.example" }).waitFor();
  await page.getByLabel("Order").selectOption("Newest first");
  expect(new URL(page.url()).searchParams.get("order")).toBe(null);
});
