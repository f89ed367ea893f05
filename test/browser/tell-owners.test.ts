import { describe, expect, test } from "vitest";
import { mailsTo } from "../dashboard/outbox.ts";
import { admin } from "../service/admin.ts";
import { eventually } from "../service/eventually.ts";
import { createScanned } from "../service/scanned.ts";
import { go, isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

const create = async () => {
  const name = `Acme ${Math.random()}`;
  const organization = await createScanned(["grace", "donald"], { name });
  const [grace, donald] = organization.emailIds;
  const mails = (person: string, count: number) =>
    eventually(
      async () => (await mailsTo(`${person}@demo.example`)).filter((mail) => mail.includes(name)),
      ({ length }) => length === count,
    );
  return { ...organization, grace, donald, mails };
};

describe("Tell the owner", () => {
  test("asks first, sends one mail per person, and shows each one's state", async () => {
    const { grace, donald, mails, api, ...organization } = await create();
    const { page } = await signInTo(organization, { role: "member", place: `/emails/${grace}` });
    const loading = Promise.withResolvers<void>();
    await page.route("**/dashboard/findings?*", async (route) => {
      await loading.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Tell the owner" }).click();
    const early = page.getByRole("dialog");
    await early.getByText("Loading the people").waitFor();
    expect(await early.getByRole("button", { name: "Tell the owner" }).isDisabled()).toBe(true);
    loading.resolve();
    const one = page.getByRole("dialog", { name: "Tell the owner?" });
    await one.getByText("1 person gets an e-mail at the breached address.").waitFor();
    await one.getByText("Left out are sensitive breaches").waitFor();
    await one.getByRole("button", { name: "Tell the owner" }).click();
    await page.getByText("1 e-mail is on the way.").waitFor();
    await page.getByText("Messages to the owner").waitFor();
    const [mail] = await mails("grace", 1);
    expect(mail).toMatch(/^Subject: \w+: your address is in the data breach /m);
    await page.getByRole("button", { name: "Tell the owner" }).click();
    const none = page.getByRole("dialog");
    await none.getByText("Nobody gets an e-mail at the breached address.").waitFor();
    expect(await none.getByRole("button", { name: "Tell the owner" }).isDisabled()).toBe(true);
    await none.getByRole("button", { name: "Cancel" }).click();

    // Of those who are selected, Grace was told already.
    await page.goto(urlOf("/breaches?q=shop"));
    await page.getByRole("link", { name: "Example Shop (invented)" }).click();
    await page.getByRole("heading", { level: 1, name: "Example Shop (invented)" }).waitFor();
    await isLoaded(page);
    // Addresses that nobody watches stand below.
    await page.getByRole("checkbox", { name: "Select this page" }).first().check();
    await page.getByRole("button", { name: "Tell the owners" }).click();
    await one.getByText("1 person gets an e-mail").waitFor();
    await one.getByRole("button", { name: "Tell the owner" }).click();
    await page.getByText("1 e-mail is on the way.").waitFor();
    await page.getByText("None selected").first().waitFor();
    await mails("donald", 1);
    await mails("grace", 1);

    await go(page, "Alerts");
    await page.getByRole("link", { name: "Messages to owners of addresses" }).click();
    const row = page.getByRole("row").filter({ hasText: "donald@demo.example" });
    await row.getByText("Delivered", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: /Deliver again|Replay|Send test/ }).count()).toBe(0);
    const details = page.getByRole("dialog");
    await row.getByRole("rowheader").getByRole("button").click();
    await details.getByText(/your address is in a data breach/).waitFor();
    await details.getByRole("button", { name: "Close" }).click();
    // The message is made again from the findings, and a leaver would not be told.
    await api.patch(`/emails/${donald}`, { isActive: false });
    await row.getByRole("rowheader").getByRole("button").click();
    await details.getByText("What was sent can no longer be shown").waitFor();
    expect(await details.getByText("Nothing was sent yet.").count()).toBe(0);
    await details.getByRole("button", { name: "Close" }).click();
    await row.getByRole("link", { name: "donald@demo.example" }).click();
    await page.getByRole("heading", { level: 1, name: "donald@demo.example" }).waitFor();
  });

  test("says for what the mail waits and until when", async () => {
    const { grace, id: org } = await create();
    await admin("org mail-budget", { org, hour: 0, day: 0 });
    const { page } = await signInTo({ id: org }, { place: `/emails/${grace}` });
    await page.getByRole("button", { name: "Tell the owner" }).click();
    await page
      .getByRole("dialog")
      .getByText(/^0 now, 1 from .*\d\d:\d\d: the rest of the mail/)
      .waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Tell the owner" }).click();
    await page.getByText("1 e-mail is on the way.").waitFor();
    const reason = "budget of e-mails is used up";
    // The budget of a UTC day ends at midnight, however near that is.
    const until = /next attempt (in \d+ (seconds?|minutes?|hours?|day)|now)/;
    // A user may make 50 requests a minute to one endpoint, and each visit asks for the session.
    const slowly = { interval: 2_000 };
    const name = page.getByText("Messages to the owner");
    const fact = page
      .locator("div", { has: name, hasText: `waits: ${reason}` })
      .filter({ hasText: until })
      .last();
    await expect
      .poll(async () => {
        await page.reload();
        await name.waitFor();
        return fact.count();
      }, slowly)
      .toBeGreaterThan(0);
    const exactTime = /^\d+ \w+ \d{4}, \d\d:\d\d$/;
    expect(await fact.locator("time").last().getAttribute("title")).toMatch(exactTime);
  });
});
