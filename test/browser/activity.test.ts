import { expect, test } from "vitest";
import { createSession } from "../dashboard/signed-in.ts";
import { createOrganization } from "../service/organization.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

test("Activity shows who did what, and only the chosen category", async () => {
  const organization = await createOrganization();
  const { page, user } = await signInTo(organization);
  const { dashboard } = await createSession(organization.id, user);
  expect((await dashboard.post("/teams", { name: "Finance" })).status).toBe(201);
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
