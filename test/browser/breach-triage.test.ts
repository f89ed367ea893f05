import { expect, test } from "vitest";
import { createScanned } from "../service/scanned.ts";
import { createUser, go, isLoaded, signIn, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

test("two people triage at once: each sees what the other has taken and said", async () => {
  const { api, ...organization } = await createScanned(["grace"]);
  const title = "Example Shop (invented)";
  const place = "/breaches";
  const one = await signInTo(organization, { place, role: "member" });
  const other = await signIn(await createUser(organization.id), [], place);
  const { page } = one;
  const finding = (await api.list("/breaches")).find(({ breach }) => breach.title === title);
  other.watch.expect(`409 /api/dashboard/breaches/${finding?.breach.id}/assignee`);
  for (const each of [page, other.page]) {
    await each.getByRole("link", { name: title }).click();
    await each.getByRole("heading", { level: 1, name: title }).waitFor();
    await isLoaded(each);
  }
  await page.keyboard.press("a");
  await page.getByText(`Assigned to ${one.user.email}`).waitFor();
  await page.getByRole("button", { name: "Assign to me" }).waitFor({ state: "detached" });

  // The other's page is from before that.
  await other.page.getByRole("button", { name: "Assign to me" }).click();
  await other.page.getByText(`${one.user.email} has taken this breach`).waitFor();
  const fact = other.page.locator("div", { has: other.page.getByText("Assignee", { exact: true }) }).last();
  await fact.locator("bdi", { hasText: one.user.email }).waitFor();

  await page.getByRole("button", { name: "Comment" }).click();
  const dialog = page.getByRole("dialog", { name: "Comments on this breach" });
  await dialog.getByText("Nobody has commented yet.").waitFor();
  await dialog.getByLabel("Your comment").fill("<b>Called</b> the provider");
  await dialog.getByRole("button", { name: "Comment" }).click();
  await dialog.getByRole("listitem").filter({ hasText: "<b>Called</b> the provider" }).waitFor();
  expect(await dialog.getByLabel("Your comment").inputValue()).toBe("");
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "1 comment" }).waitFor();

  await go(other.page, "Breaches");
  const row = other.page.getByRole("row").filter({ hasText: title });
  await row.getByText(one.user.email).waitFor();
  await row.getByText("1 comment").waitFor();
  const filter = other.page.getByLabel("Assignee");
  await filter.focus();
  await filter.selectOption("Me");
  await other.page.getByText("No breach matches these filters.").waitFor();
  await other.page.goto(urlOf(`/breaches?assignee=${one.user.id}`));
  await other.page.getByText("1 breach matches").waitFor();
  await row.getByRole("link", { name: title }).click();

  // Takes it over, for a colleague.
  await other.page.getByRole("button", { name: "Assign", exact: true }).click();
  const assigning = other.page.getByRole("dialog");
  await assigning.getByLabel("Assignee").selectOption("Nobody");
  await assigning.getByRole("button", { name: "Assign" }).click();
  await other.page.getByText("Nobody has this breach in hand.").waitFor();
  await other.page.getByRole("button", { name: "1 comment" }).click();
  await other.page.getByRole("dialog").getByText(one.user.email).waitFor();
});
