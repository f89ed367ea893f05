import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { createUser, isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

describe("a member", () => {
  test("is offered nothing that is for admins, and reads what the others see", async () => {
    const { id } = await createOrganization({ name: "Acme Member" });
    const { page, watch, user } = await signInTo({ id }, { role: "member", place: "/domains" });
    const buttons = (name: string) => page.getByRole("main").getByRole("button", { name, exact: true });
    await page.getByText("Only admins add, check and remove domains.").waitFor();
    await page.getByRole("rowheader", { name: "demo.example" }).waitFor();
    for (const name of ["Add domain", "Check now", "Remove"]) expect(await buttons(name).count()).toBe(0);

    const tabs: [path: string, sentence: string, refused: string[]][] = [
      ["members", "Only admins invite, change and remove members.", ["Invite", "Edit", "Remove"]],
      ["teams", "Only admins change teams.", ["Add team", "Rename", "Delete"]],
      ["directory", "Only admins connect directories.", ["Connect a directory", "Edit", "Disconnect"]],
      ["organization", "Only admins can change this.", ["Save"]],
    ];
    for (const [path, sentence, refused] of tabs) {
      await page.goto(urlOf(`/settings/${path}`));
      await page.getByText(sentence).waitFor();
      await isLoaded(page);
      for (const name of refused) expect(await buttons(name).count()).toBe(0);
    }
    await page.goto(urlOf("/settings/members"));
    await page
      .getByRole("row")
      .filter({ hasText: user.email })
      .getByText("Member", { exact: true })
      .waitFor();

    watch.expect("403 /api/dashboard/api-keys");
    await page.goto(urlOf("/settings/api-keys"));
    await page.getByText("Only admins see and create API keys.").waitFor();
    expect(await buttons("Create API key").count()).toBe(0);
  });

  test("an admin reads nothing about limits of members while the session loads", async () => {
    const { page } = await signInTo(await createOrganization());
    await page.route("**/api/dashboard/session", () => {});
    for (const path of [
      "/domains",
      "/settings/members",
      "/settings/teams",
      "/settings/directory",
      "/settings/organization",
    ]) {
      await page.goto(urlOf(path));
      await page.getByRole("heading", { level: 1 }).waitFor();
      await isLoaded(page);
      expect(await page.getByText(/Only admins [a-z, ]+\.$/).count(), path).toBe(0);
    }
  });

  test("who was an admin until now is offered nothing more for admins", async () => {
    const { id } = await createOrganization();
    await createUser(id);
    const { page, user } = await signInTo({ id }, { place: "/settings/members" });
    await page.getByRole("row").filter({ hasText: user.email }).getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByLabel("Role").selectOption("member");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByText("Only admins invite, change and remove members.").waitFor();
    expect(await page.getByRole("button", { name: "Edit" }).count()).toBe(0);
  });
});
