/** What telling owners warns of: a stealer log, and a sensitive breach. */
import { expect, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { scan } from "../service/scan.ts";
import { useChangingService } from "./changing-service.ts";
import { createUser, signIn, useBrowser } from "./visit.ts";

useBrowser();

const domain = "telling.example";

const breached = { ada: ["Logs", "Private"], grace: ["Private"] };

const changing = useChangingService(domain, breached, async ({ hibp, organization }) => {
  hibp.catalog.push(
    { ...inventedBreach("Logs"), IsStealerLog: true },
    { ...inventedBreach("Private"), IsSensitive: true },
  );
  hibp.stolenLogins[`ada@${domain}`] = ["bank.example", `vpn.${domain}`];
  await scan(organization.api);
});

test("a stealer log says to call, and a sensitive breach gives the words for a talk", async () => {
  const { page } = await signIn(
    await createUser(changing.organization.id, { apiUrl: changing.service.apiUrl }),
    [],
    "/breaches",
  );
  await page.getByRole("link", { name: "Logs (invented)" }).click();
  await page.getByRole("columnheader", { name: "Logins stolen for" }).waitFor();
  const row = page.getByRole("row").filter({ hasText: `ada@${domain}` });
  expect(await row.innerText()).toMatch(/vpn\.telling\.example\s+yours\s+bank\.example/);

  // From the pane of the finding.
  await row.getByRole("button", { name: `ada@${domain}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Tell the owner" }).click();
  const telling = page.getByRole("dialog", { name: "Tell the owner?" });
  await telling.getByText("1 address is in a stealer log.").waitFor();
  await telling.getByText("Call these people as well").waitFor();
  expect(await telling.getByText("A sensitive breach is never mailed.").count()).toBe(0);
  await telling.getByRole("button", { name: "Tell the owner" }).click();
  await page.getByText("1 e-mail is on the way.").first().waitFor();
  await telling.waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await page.getByRole("link", { name: "Breaches", exact: true }).click();
  await page.getByRole("link", { name: "Private (invented)" }).click();
  await page.getByRole("button", { name: "Tell all owners" }).click();
  const talk = page.getByRole("dialog");
  await talk.getByText("Nobody gets an e-mail at the breached address.").waitFor();
  await talk.getByText("Talk to these 2 people alone").waitFor();
  for (const name of ["ada", "grace"]) await talk.getByText(`${name}@${domain}`).waitFor();
  await talk.getByText("If you used a password there that you use elsewhere").waitFor();
  await talk.getByRole("button", { name: "Copy" }).waitFor();
  expect(await talk.getByRole("button", { name: "Tell the owners" }).isDisabled()).toBe(true);
});
