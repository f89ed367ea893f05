import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { go, isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

describe("a member", () => {
  test("is offered nothing that is for admins, and reads what the others see", async () => {
    const { id } = await createOrganization({ name: "Acme Member" });
    const { page, watch, user } = await signInTo({ id }, { role: "member" });
    const buttons = (name: string) => page.getByRole("main").getByRole("button", { name, exact: true });
    await go(page, "Domains");
    await page.getByText("Only admins add, check and remove domains.").waitFor();
    await page.getByRole("rowheader", { name: "demo.example" }).waitFor();
    for (const name of ["Add domain", "Check now", "Remove"]) expect(await buttons(name).count()).toBe(0);

    const tabs: [path: string, sentence: string, refused: string[]][] = [
      ["members", "Only admins invite, change and remove members.", ["Invite", "Edit", "Remove"]],
      ["teams", "Only admins change teams.", ["Add team", "Rename", "Delete"]],
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

  test("is refused with admin_only when the page is bypassed", async () => {
    const { id, domainId } = await createOrganization();
    const { page, watch } = await signInTo({ id }, { role: "member" });
    const calls: [method: string, path: string, body?: object][] = [
      ["PATCH", "/organization", { name: "Taken over" }],
      ["GET", "/api-keys"],
      ["POST", "/api-keys", { label: "Mine" }],
      ["POST", "/domains", { name: "taken.example" }],
      ["POST", `/domains/${domainId}/check`],
      ["DELETE", `/domains/${domainId}`],
      ["POST", "/teams", { name: "Mine" }],
      ["POST", "/members", { email: "friend@demo.example", role: "admin" }],
    ];
    for (const [method, path, body] of calls) {
      watch.expect(`403 /api/dashboard${path}`);
      const init = {
        method,
        ...(body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
      };
      const answer = await page.evaluate<{ status: number; body: object }>(
        `fetch("/api/dashboard${path}", ${JSON.stringify(init)})
           .then(async (reply) => ({ status: reply.status, body: await reply.json() }))`,
      );
      expect(answer, path).toMatchObject({ status: 403, body: { code: "admin_only" } });
    }
  });
});
