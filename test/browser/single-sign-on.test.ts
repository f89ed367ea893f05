import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { type LocalService, startService } from "../../local/harness/service.ts";
import { type IdentityProvider, startIdentityProvider } from "../access/sign-in/identity-provider.ts";
import { createOrganization } from "../service/organization.ts";
import { createUser, go, signIn, urlOf, useBrowser, visit } from "./visit.ts";

useBrowser();

let provider: IdentityProvider;
let service: LocalService;
beforeAll(async () => {
  if (noBrowser !== undefined) return;
  provider = await startIdentityProvider();
  service = await startService(
    ["--memory", "--oidc-issuer", provider.issuer, "--oidc-client-id", provider.clientId],
    { OIDC_CLIENT_SECRET: provider.clientSecret },
  );
  provider.redirectTo(urlOf("/sign-in", service.apiUrl));
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await provider?.close();
});

const person = (email: string) => {
  provider.person = { email, email_verified: true };
};
const newUser = async (name = "Acme") => {
  const { apiUrl } = service;
  return createUser((await createOrganization({ name }, { apiUrl })).id, { apiUrl });
};
const button = { name: "Sign in with single sign-on" };

describe("the button of the identity provider", () => {
  test("leads there and back, to the page that was asked for", async () => {
    const user = await newUser();
    person(user.email);
    const { page, watch } = await visit([], service.apiUrl);
    watch.expect("401 /api/v1/activity", `request to ${provider.issuer}`);
    await page.goto(urlOf("/activity", service.apiUrl));
    await page.getByRole("button", button).click();
    await page.getByRole("heading", { level: 1, name: "Activity" }).waitFor();
    expect(page.url()).toBe(urlOf("/activity", service.apiUrl));
    await page.getByText(user.email, { exact: true }).waitFor();
  });

  test("says what went wrong, and offers the ways to sign in again", async () => {
    provider.person = undefined;
    const { page, watch } = await visit([], service.apiUrl);
    watch.expect("401 /api/dashboard/sign-in/provider/sessions", `request to ${provider.issuer}`);
    await page.goto(urlOf("/sign-in", service.apiUrl));
    await page.getByRole("button", button).click();
    await page.getByRole("alert").getByText("The identity provider refused to sign you in.").waitFor();
    // The answer is good once, and leaves the address.
    expect(page.url()).toBe(urlOf("/sign-in", service.apiUrl));
    await page.getByRole("button", { name: "Send sign-in link" }).waitFor();
    expect(await page.getByText("Did a link in an e-mail bring you here?").count()).toBe(0);
    const user = await newUser();
    person(user.email);
    await page.getByRole("button", button).click();
    await go(page, "E-mails");
  });

  test("lets users of several organizations choose", async () => {
    const user = await newUser("First");
    const { apiUrl } = service;
    const { id } = await createOrganization({ name: "Second" }, { apiUrl });
    await createUser(id, { email: user.email, apiUrl });
    person(user.email);
    const { page, watch } = await visit([], apiUrl);
    watch.expect("409 /api/dashboard/sign-in/provider/sessions", `request to ${provider.issuer}`);
    await page.goto(urlOf("/sign-in", apiUrl));
    await page.getByRole("button", button).click();
    await page.getByRole("button", { name: "Second" }).click();
    await go(page, "E-mails");
    await page.getByRole("banner").getByText("Second").waitFor();
  });

  test("opens another tab where a session has ended, so that nothing typed is lost", async () => {
    const user = await newUser();
    person(user.email);
    const { page, watch } = await signIn(user);
    await page.getByRole("searchbox").first().fill("typed");
    await page.context().clearCookies();
    watch.expect("401 /api/dashboard/emails", `request to ${provider.issuer}`);
    const opened = page.context().waitForEvent("page");
    await page.getByRole("dialog").getByRole("link", button).click();
    const tab = await opened;
    await tab.getByRole("button", button).click();
    await go(tab, "E-mails");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.getByRole("searchbox").first().inputValue()).toBe("typed");
  });
});
