import { expect, test } from "vitest";
import { createScanned } from "../service/scanned.ts";
import { follow, press } from "./keyboard.ts";
import { isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

test("the keyboard finds a breach by its name, acknowledges it as a whole, reopens it", async () => {
  const { api, ...organization } = await createScanned(["grace", "donald"]);
  const { page } = await signInTo(organization);
  await follow(page, "Breaches");
  const severities = await page.getByRole("row").locator(".severity").allInnerTexts();
  const order = ["Critical", "High", "Medium", "Low"];
  expect(severities.length).toBeGreaterThan(2);
  expect(severities).toEqual(severities.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)));

  await page.keyboard.press("/");
  await page.keyboard.type("shop");
  await page.getByText("1 breach matches").waitFor();
  await press(page, "Example Shop (invented)");
  await page.getByRole("heading", { level: 1, name: "Example Shop (invented)" }).waitFor();
  await isLoaded(page);
  const { breach } = (await api.list("/breaches?include=details")).find(
    ({ breach }) => breach.title === "Example Shop (invented)",
  );
  const atHibp = page.getByRole("link", { name: "its page" });
  expect(await atHibp.getAttribute("href")).toBe(`https://haveibeenpwned.com/Breach/${breach.name}`);
  const [year] = breach.addedDate.split("-");
  await page.getByText(new RegExp(`^since .*${year}, its page$`)).waitFor();
  expect(await page.getByRole("button", { name: "Reopen" }).count()).toBe(0);
  await page.getByText("the online shop Example Shop left a backup of its customer").waitFor();
  await page.getByRole("listitem").filter({ hasText: "Passwords" }).first().waitFor();
  await page.getByText("Secrets that open accounts leaked").waitFor();
  for (const name of ["grace", "donald"]) {
    await page.getByRole("button", { name: `${name}@demo.example` }).waitFor();
  }

  const acknowledged = async () => (await api.get("/breaches?acknowledged=true")).body.total;
  await press(page, "Acknowledge all");
  const dialog = page.getByRole("dialog", { name: "Acknowledge 2 findings" });
  await dialog.getByText("2 open findings of Example Shop (invented), on every page.").waitFor();
  await press(page, "Acknowledge");
  // Undo goes after twenty seconds, and the list can take longer.
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("z");
  await page.getByText("Reopened 2 findings.").waitFor();
  expect(await acknowledged()).toBe(0);
  await press(page, "Acknowledge all");
  await dialog.waitFor();
  await press(page, "Acknowledge");
  await page.getByText("All 2 handled.").waitFor();
  await page.getByRole("heading", { level: 1, name: "Example Shop (invented)" }).waitFor();
  expect(await acknowledged()).toBe(2);

  await press(page, "Reopen");
  await page.getByRole("dialog", { name: "Reopen 2 findings" }).waitFor();
  await press(page, "Reopen");
  await page.getByRole("button", { name: "grace@demo.example" }).waitFor();
  expect(await acknowledged()).toBe(0);
});
