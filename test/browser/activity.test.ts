import { expect, test } from "vitest";
import { createSession, createToken, visitor } from "../dashboard/signed-in.ts";
import { createOrganization } from "../service/organization.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

test("Activity shows who did what, and only the chosen category", async () => {
  const organization = await createOrganization();
  const { page, user } = await signInTo(organization);
  const { dashboard } = await createSession(organization.id, user);
  expect((await dashboard.post("/teams", { name: "Finance" })).status).toBe(201);
  const token = await createToken(organization.id, user.id);
  expect((await visitor().post("/sign-in/sessions", { token })).status).toBe(201);
  await go(page, "Activity");
  await page.getByText(/^Signed in by a link that an operator made from 127\.\d+\.\d+\.0\/24$/).waitFor();
  const team = page.getByRole("row").filter({ hasText: "Created the team Finance" });
  await team.getByText(user.email).waitFor();
  const key = page.getByRole("row").filter({ hasText: "Created the API key" });
  await key.waitFor();
  await page.getByLabel("Category").selectOption("Members, teams");
  await key.waitFor({ state: "detached" });
  await team.waitFor();
  expect(new URL(page.url()).searchParams.get("category")).toBe("teams");
  await page.getByLabel("Category").selectOption("Alerts");
  await page.getByText("No activity matches these filters.").waitFor();
});

test("Activity is searched by text, person and day, and what matches is exported whole", async () => {
  const organization = await createOrganization();
  const { page, user } = await signInTo(organization);
  const { dashboard } = await createSession(organization.id, user);
  const reason = `Told everybody at the meeting ${"and again ".repeat(40)}to the end`;
  const names = [reason.slice(0, 95), "Finance"];
  for (const name of names) expect((await dashboard.post("/teams", { name })).status).toBe(201);
  await go(page, "Activity");
  const long = page.getByRole("row").filter({ hasText: names[0] as string });
  await long.waitFor();
  // A long summary is in several lines, and not cut.
  const cell = long.getByRole("rowheader");
  expect(await cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);

  const finance = page.getByRole("row").filter({ hasText: "Created the team Finance" });
  await page.getByLabel("Search").fill("finance");
  await long.waitFor({ state: "detached" });
  await finance.waitFor();
  await page.getByLabel("Who").focus();
  await page.getByLabel("Who").selectOption(user.email);
  await finance.waitFor();
  expect(new URL(page.url()).searchParams.get("actor")).toBe(String(user.id));
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const file = await (await download).createReadStream();
  const text = (await file.toArray()).join("");
  expect(text).toMatch(/^\uFEFFid,at,category,action,summary,actor_type,actor\r\n/);
  expect(text.trim().split("\r\n").slice(1)).toEqual([
    expect.stringMatching(/,teams,team\.created,Created the team Finance,user,/),
  ]);
  await page.getByText("Exported 1 entry.").waitFor();
  await page.getByLabel("To", { exact: true }).fill("2020-01-31");
  await page.getByText("No activity matches these filters.").waitFor();
  await page.getByRole("link", { name: "Show everything" }).click();
  await long.waitFor();
  await page
    .getByText(/^Exported 1 entry of the activity log \(by .+, with the text "finance"\) as CSV$/)
    .waitFor();
});

test("without an entry in the activity log there is no file", async () => {
  const organization = await createOrganization();
  const { page, watch } = await signInTo(organization);
  await go(page, "Activity");
  const downloads: string[] = [];
  page.on("download", (download) => downloads.push(download.suggestedFilename()));
  watch.expect("ERR_FAILED /api/dashboard/exports");
  await page.route("**/api/dashboard/exports", (route) => route.abort(), { times: 1 });
  await page.getByRole("button", { name: "Export CSV" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The service cannot be reached.").waitFor();
  expect(downloads).toEqual([]);
  await dialog.getByRole("button", { name: "Try again" }).click();
  await page.getByText(/^Exported \d+ entries\.$/).waitFor();
  await expect.poll(() => downloads).toHaveLength(1);
});
