import { expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createScanned } from "../service/scanned.ts";
import { follow, press } from "./keyboard.ts";
import { isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

test("Domains counts the unwatched; the keyboard ignores one, watches one at a price", async () => {
  const { api, domainId, ...organization } = await createScanned(["grace"]);
  const { page } = await signInTo(organization);
  await follow(page, "Domains");
  const counted = page.getByRole("link", { name: /^In breaches, not watched: \d+$/ });
  await press(page, await counted.innerText());
  await page.getByRole("heading", { level: 1, name: "In breaches, not watched" }).waitFor();
  await isLoaded(page);
  const select = async () => {
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByText("1 selected").waitFor();
    return page.getByRole("rowheader").first().innerText();
  };
  const ignored = await select();
  const row = page.getByRole("rowheader", { name: ignored });
  await press(page, "Ignore");
  await page.getByText("Ignored 1 address.").waitFor();
  await row.waitFor({ state: "detached" });
  await page.getByLabel("State").selectOption("Ignored");
  await row.waitFor();
  await page.getByLabel("State").selectOption("To decide");
  await row.waitFor({ state: "detached" });

  const watched = await select();
  await press(page, "Watch");
  const dialog = page.getByRole("dialog", { name: "Watch 1 address" });
  await dialog.getByText("2 addresses are watched").waitFor();
  await press(page, "Watch");
  await page.getByText("Added 1 address. Findings follow with the next scan.").waitFor();
  await page.getByRole("rowheader", { name: watched }).waitFor({ state: "detached" });
  // One that was added elsewhere stays on the list until the next scan.
  await addEmail(api, domainId, await select());
  await press(page, "Watch");
  await page.getByRole("dialog").getByText("3 addresses are watched").waitFor();
  await press(page, "Watch");
  await page.getByText("All of them were watched already.").waitFor();
  const { emails } = (await api.get("/emails")).body;
  expect((emails as { email: string }[]).map(({ email }) => email)).toContain(watched);
});
