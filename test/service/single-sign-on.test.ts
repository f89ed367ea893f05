/** People sign in by a certified OpenID Connect provider, to a deployment whose organizations they join. */
import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalService } from "../../local/harness/service.ts";
import * as users from "../../shared/access/members/user.ts";
import { type IdentityProvider, startIdentityProvider } from "../access/sign-in/identity-provider.ts";
import {
  createUser as createVisitor,
  go,
  signIn as signInAs,
  urlOf,
  useBrowser,
  visit,
} from "../browser/visit.ts";
import { activity } from "../dashboard/activity.ts";
import { mailsTo, untilMailed } from "../dashboard/outbox.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { admin } from "./admin.ts";
import { synthesizeWith } from "./assembly.ts";
import { type Client, createClient, type Reply } from "./client.ts";
import { readLogs } from "./local-stack.ts";
import { startOwnService } from "./own-service.ts";

let provider: IdentityProvider;
let service: LocalService;
beforeAll(async () => {
  provider = await startIdentityProvider();
  // It knows no accounts to choose from.
  provider.behave({
    metadata: { prompt_values_supported: ["none", "login", "consent"] },
    alter: (claims) => ({ ...claims, tid: "acme" }),
  });
  const assembly = synthesizeWith({
    oidcIssuer: provider.issuer,
    oidcClientId: provider.clientId,
    oidcName: "Acme ID",
    oidcRequire: "tid=acme",
    oidcJoin: "member",
    senderEmail: "alerts@breach-monitor.example",
  });
  const secret = { OIDC_CLIENT_SECRET: provider.clientSecret };
  service = await startOwnService(["--memory"], secret, assembly);
  provider.redirectTo(new URL("/api/app/sign-in", service.apiUrl).href);
});
afterAll(async () => {
  await service?.stop();
  await provider?.close();
});

const dashboard = (headers: Record<string, string> = {}): Client =>
  createClient(
    { origin: new URL(service.apiUrl).origin, ...headers },
    new URL("/api/dashboard", service.apiUrl).href,
  );

/** A browser: it keeps cookies. */
const openBrowser = () => {
  const cookies = new Map<string, string>();
  const ask = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const reply = await dashboard().request(method, path, {
      headers: { cookie },
      ...(body !== undefined && { body }),
    });
    for (const line of [reply.headers["set-cookie"] ?? []].flat()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return reply;
  };
  return {
    cookies,
    ask,
    /** Begins an attempt, and goes to the provider; gives what comes back. */
    goThere: async (): Promise<string> => {
      const { body } = await ask("POST", "/sign-in/provider");
      return (await provider.visit(body.url as string)).search.slice(1);
    },
    comeBack: (answer: string) => ask("POST", "/sign-in/provider/sessions", { answer }),
  };
};
type Browser = ReturnType<typeof openBrowser>;

const signIn = async (email: string, claims: object = {}, browser: Browser = openBrowser()) => {
  provider.person = { email, email_verified: true, name: "Ada", ...claims };
  return { browser, reply: await browser.comeBack(await browser.goThere()) };
};

let names = 0;
const newDomain = (): string => `acme-${++names}.example`;
const createOrg = async (name = "Acme"): Promise<number> =>
  (await admin("org create", { name, "scan-every": "never" }, service.apiUrl)).id;
const verify = (org: number, name: string) =>
  admin("domain add", { org, name, verified: true }, service.apiUrl);
const usersOf = async (org: number) =>
  (await admin("user list", { org }, service.apiUrl)).users as Record<string, unknown>[];
const createUser = (org: number, email: string) =>
  admin("user create", { org, email, role: "admin" }, service.apiUrl);

const expectUnknown = ({ reply }: { reply: Reply }) =>
  expectRefusal(reply, 403, /Nobody here has the e-mail address/, { code: "user_unknown" });

describe("signing in", () => {
  test("a user gets a session like that of a link, and logging out ends it", async () => {
    const org = await createOrg();
    const { id } = await createUser(org, "ada@users.example");
    const { browser, reply } = await signIn(" Ada@Users.example");
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      user: { id, email: "ada@users.example", name: null, role: "admin" },
      organization: { id: org, name: "Acme" },
    });
    expect([reply.headers["set-cookie"]].flat()).toEqual([
      expect.stringMatching(/^session=[0-9A-Za-z]{48}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/),
      "sign-in=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict",
    ]);
    const session = browser.cookies.get("session") ?? "";
    expect((await browser.ask("GET", "/session")).body).toMatchObject({ user: { id } });
    expect((await browser.ask("DELETE", "/session")).status).toBe(200);
    const after = await dashboard({ cookie: `session=${session}` }).get("/session");
    expect(after.status).toBe(401);
  });

  test("an answer is good once, only in the browser that began the attempt", async () => {
    await createUser(await createOrg(), "once@users.example");
    const browser = openBrowser();
    provider.person = { email: "once@users.example", email_verified: true };
    const answer = await browser.goThere();
    const attempt = browser.cookies.get("sign-in") ?? "";
    const unknown = (reply: Reply) => expectRefusal(reply, 401, /start again/, { code: "attempt_unknown" });
    unknown(await openBrowser().comeBack(answer));
    const other = openBrowser();
    await other.goThere();
    unknown(await other.comeBack(answer));
    expect((await browser.comeBack(answer)).status).toBe(201);
    unknown(await browser.comeBack(answer));
    // Somebody who kept the cookie: the provider takes no code twice.
    browser.cookies.set("sign-in", attempt);
    unknown(await browser.comeBack(answer));
    for (const junk of ["state=", "code=1", "x", "state=%00&code=%ff", "state=a&state=b"]) {
      unknown(await browser.comeBack(junk));
    }
  });

  test("only a real cookie makes a request to the provider, and only one", async () => {
    const secret = "A".repeat(43);
    const state = createHash("sha256").update(`state ${secret}`).digest("base64url");
    const browser = openBrowser();
    browser.cookies.set("sign-in", secret);
    provider.asked = [];
    const made = await browser.comeBack(`code=made-up&state=${state}&iss=${provider.issuer}`);
    expectRefusal(made, 401, /start again/, { code: "attempt_unknown" });
    expect(provider.asked).toEqual([]);

    provider.person = { email: "nobody@users.example", email_verified: true };
    const answer = await browser.goThere();
    provider.asked = [];
    const guessed = new URLSearchParams({
      ...Object.fromEntries(new URLSearchParams(answer)),
      code: "made-up",
    });
    const replies = await Promise.all(Array.from({ length: 5 }, () => browser.comeBack(`${guessed}`)));
    replies.push(await browser.comeBack(answer));
    for (const reply of replies) expectRefusal(reply, 401, /start again/, { code: "attempt_unknown" });
    expect(provider.asked.filter((path) => path === "/token")).toHaveLength(1);
  });

  test("a user of several organizations chooses by the refusal's link", async () => {
    const [first, second] = [await createOrg("First"), await createOrg("Second")];
    for (const org of [first, second]) await createUser(org, "several@users.example");
    const { browser, reply } = await signIn("several@users.example");
    const { token } = reply.body;
    expectRefusal(reply, 409, /choose one/, {
      code: "choose_organization",
      token,
      organizations: [
        { id: first, name: "First" },
        { id: second, name: "Second" },
      ],
    } as object);
    const chosen = { token, organizationId: second };
    expect((await browser.ask("POST", "/sign-in/sessions", chosen)).body).toMatchObject({
      organization: { id: second },
    });
    expect((await browser.ask("POST", "/sign-in/sessions", chosen)).status).toBe(401);
  });

  test("whoever refuses, is not verified, or is no user is told so", async () => {
    const browser = openBrowser();
    provider.person = undefined;
    const refused = await browser.comeBack(await browser.goThere());
    expectRefusal(refused, 401, /refused to sign you in/, { code: "provider_refused" });
    const unverified = await signIn("ada@users.example", { email_verified: false });
    expectRefusal(unverified.reply, 403, /does not vouch/, { code: "address_unverified" });
    expectUnknown(await signIn("stranger@users.example"));
  });

  test("whoever lacks a required claim, or has a denied address, stays out", async () => {
    const [org, domain] = [await createOrg(), newDomain()];
    await verify(org, domain);
    const { alter } = provider;
    for (const tid of ["other", undefined]) {
      provider.alter = (claims) => ({ ...claims, tid });
      const { reply } = await signIn(`ada@${domain}`);
      expectRefusal(reply, 403, /none of those that may sign in here/, { code: "claim_required" });
    }
    provider.alter = alter;
    for (const email_verified of ["false", 0, []]) {
      const { reply } = await signIn(`ada@${domain}`, { email_verified });
      expectRefusal(reply, 403, /does not vouch/, { code: "address_unverified" });
    }
    expectRefusal((await signIn("ada")).reply, 403, /does not vouch/, { code: "address_unverified" });
    expect(await usersOf(org)).toEqual([]);
    expect((await signIn(`ada@${domain}`, { email_verified: "true" })).reply.status).toBe(201);
    const log = await readLogs(service.apiUrl);
    const reasons = ["claims: oidcRequire tid", "claims: email_verified false", "claims: no e-mail address"];
    expect(reasons.filter((reason) => !log.includes(`"reason":"${reason}"`))).toEqual([]);
  });
});

describe("another account", () => {
  const changed = (reply: Reply) =>
    expectRefusal(reply, 403, /an admin can let yours in/, { code: "identity_changed" });

  test("is refused until an admin forgets the first, which is logged", async () => {
    const org = await createOrg();
    const { id } = await createUser(org, "person@users.example");
    await createUser(org, "other@users.example");
    const admins = await signIn("other@users.example");
    expect((await signIn("person@users.example", { sub: "1" })).reply.status).toBe(201);
    changed((await signIn("person@users.example", { sub: "2" })).reply);
    const forget = (body: unknown = { hasIdentity: false }) =>
      admins.browser.ask("PATCH", `/members/${id}`, body);
    for (const _ of ["once", "again"]) expect((await forget()).status).toBe(200);
    expectRefusal(await forget({ hasIdentity: true }), 400, /hasIdentity/);
    expect(await usersOf(org)).toMatchObject([{ hasIdentity: true }, { id, hasIdentity: false }]);
    expect((await signIn("person@users.example", { sub: "2" })).reply.status).toBe(201);
    changed((await signIn("person@users.example", { sub: "1" })).reply);
    const v1 = createClient({ cookie: `session=${admins.browser.cookies.get("session")}` }, service.apiUrl);
    expect(await activity(v1, "member.identity_forgotten")).toMatchObject([
      {
        summary: "Forgot the account at the identity provider that signs in as person@users.example",
        actor: { label: "other@users.example" },
      },
    ]);
  });

  test("is refused until the operator forgets the known ones", async () => {
    const org = await createOrg();
    const emails = ["one@moved.example", "two@moved.example", "never@moved.example"];
    const ids: number[] = [];
    for (const email of emails) ids.push((await createUser(org, email)).id);
    const [one = "", two = ""] = emails;
    for (const email of [one, two])
      expect((await signIn(email, { sub: `old ${email}` })).reply.status).toBe(201);
    const forget = (flags: object) => admin("user forget-identity", { org, ...flags }, service.apiUrl);
    expect(await forget({ user: ids[0] })).toEqual({ forgotten: 1 });
    expect((await signIn(one, { sub: `new ${one}` })).reply.status).toBe(201);
    changed((await signIn(two, { sub: `new ${two}` })).reply);
    expect(await forget({})).toEqual({ forgotten: 2 });
    expect(await forget({})).toEqual({ forgotten: 0 });
    expect((await signIn(two, { sub: `new ${two}` })).reply.status).toBe(201);
  });

  test("does not affect links; with a new address one is the same user", async () => {
    const org = await createOrg();
    const { id: user } = await createUser(org, "maiden@users.example");
    expect((await signIn("maiden@users.example", { sub: "married" })).reply.status).toBe(201);
    const { reply } = await signIn("name@users.example", { sub: "married" });
    expect(reply.body).toMatchObject({ user: { id: user, email: "name@users.example" } });
    const { url } = await admin("user sign-in-link", { org, user }, service.apiUrl);
    const token = new URL(url as string).hash.slice(1);
    expect((await dashboard().post("/sign-in/sessions", { token })).status).toBe(201);
    changed((await signIn("name@users.example", { sub: "hired later" })).reply);
    expectUnknown(await signIn("maiden@users.example", { sub: "hired later" }));
  });
});

describe("joining", () => {
  test("a person with an address of a verified domain becomes a member", async () => {
    const [org, domain] = [await createOrg("Joined"), newDomain()];
    await createUser(org, `admin@${domain}`);
    await verify(org, domain);
    const { reply } = await signIn(`new@${domain}`, { name: "Ada Lovelace" });
    expect(reply).toMatchObject({
      status: 201,
      body: { user: { name: "Ada Lovelace", role: "member" }, organization: { id: org } },
    });
    expect((await signIn(`new@${domain}`)).reply.body.user).toEqual(reply.body.user);
    const long = await signIn(`long@${domain}`, { name: "a".repeat(10_000) });
    expect(long.reply.body).toMatchObject({ user: { name: null } });
    expect(await usersOf(org)).toHaveLength(3);
    const { browser } = await signIn(`admin@${domain}`);
    const v1 = createClient({ cookie: `session=${browser.cookies.get("session")}` }, service.apiUrl);
    expect((await v1.get("/activity?category=teams")).body.activity).toMatchObject([
      { action: "member.signed_in", actor: { type: "user", label: `admin@${domain}` } },
      {
        action: "member.signed_in",
        summary: expect.stringMatching(/^Signed in by single sign-on from 127\.\d+\.\d+\.0\/24$/),
        actor: { type: "user", label: `long@${domain}` },
      },
      { action: "member.joined", summary: `long@${domain} joined as a member by single sign-on` },
      { action: "member.signed_in" },
      { action: "member.signed_in", actor: { type: "user", label: `new@${domain}` } },
      { action: "member.joined", summary: `new@${domain} joined as a member by single sign-on` },
      { action: "member.added", summary: `Added admin@${domain} as an admin` },
    ]);
  });

  test("a person in several tabs at once becomes one member", async () => {
    const [org, domain] = [await createOrg(), newDomain()];
    await verify(org, domain);
    const browser = openBrowser();
    provider.person = { email: `same@${domain}`, email_verified: true };
    const answers = [await browser.goThere(), await browser.goThere(), await browser.goThere()];
    const replies = await Promise.all(answers.map(browser.comeBack));
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await usersOf(org)).toHaveLength(1);
  });

  test("nobody joins by a domain that looks alike, is a part of it, or below it", async () => {
    const [org, domain] = [await createOrg(), `apple-${++names}.example`];
    await verify(org, domain);
    for (const other of [
      domain.replace("a", "а"), // Cyrillic
      domain.replace("apple", "ａｐｐｌｅ"), // full width
      domain.replace("e", "e\u200d"),
      `sub.${domain}`,
      `x${domain}`,
      `${domain}.attacker.example`,
      `attacker.example@${domain}@attacker.example`,
    ]) {
      const { reply } = await signIn(`ada@${other}`);
      expect([reply.status, other]).toEqual([403, other]);
    }
    expect(await usersOf(org)).toEqual([]);
    expect((await signIn(`ada@${domain.toUpperCase()}`)).reply.status).toBe(201);
  });

  test("nobody joins by a domain verified by no organization or by two", async () => {
    const [org, other, domain] = [await createOrg(), await createOrg(), newDomain()];
    const { id } = await admin("domain add", { org, name: domain }, service.apiUrl);
    expectUnknown(await signIn(`ada@${domain}`));
    await admin("domain verify", { org, domain: id }, service.apiUrl);
    await verify(other, domain);
    expectUnknown(await signIn(`ada@${domain}`));
    await admin("domain unverify", { org, domain: id }, service.apiUrl);
    expect((await signIn(`ada@${domain}`)).reply.body).toMatchObject({ organization: { id: other } });
  });

  test("nobody joins an organization that is being deleted", async () => {
    const [org, domain] = [await createOrg("Going"), newDomain()];
    await verify(org, domain);
    await admin("org delete", { org, name: "Going" }, service.apiUrl);
    expectUnknown(await signIn(`late@${domain}`));
    expect(await users.list(org)).toEqual([]);
  });

  test("a removed person returns by invitation only, also after erasure", async () => {
    const org = await createOrg();
    const [domain, email] = ["münchen.example", "back@xn--mnchen-3ya.example"];
    await verify(org, domain);
    const { id } = (await signIn(email, { sub: "first" })).reply.body.user as { id: number };
    const comeBack = async (): Promise<void> => {
      for (const [address, sub] of [
        [email, "first"],
        [email, "made anew"],
        [email.toUpperCase(), "other case"],
        [`back@${domain}`, "Unicode"],
        [email.replace("@", "+x@"), "sub-address"],
        [email.replace("@", "+@"), "empty sub-address"],
        [`other@${domain}`, "first"],
      ] as const)
        expect([(await signIn(address, { sub })).reply.body.code, sub]).toEqual(["user_unknown", sub]);
    };
    await admin("user remove", { org, user: id, force: true }, service.apiUrl);
    await comeBack();
    await admin("erase", { email }, service.apiUrl);
    await comeBack();
    expect(await usersOf(org)).toEqual([]);
    await createUser(org, email);
    expect((await signIn(email, { sub: "made anew" })).reply.status).toBe(201);
  });

  test("a person removed in one organization may join the domain's next one", async () => {
    const [org, other, domain] = [await createOrg(), await createOrg(), newDomain()];
    const added = await verify(org, domain);
    const { id } = (await signIn(`moved@${domain}`)).reply.body.user as { id: number };
    await admin("user remove", { org, user: id, force: true }, service.apiUrl);
    await verify(other, domain);
    expectUnknown(await signIn(`moved@${domain}`));
    await admin("domain unverify", { org, domain: added.id }, service.apiUrl);
    expect((await signIn(`moved@${domain}`)).reply.body).toMatchObject({ organization: { id: other } });
  });
});

describe("provider alone", () => {
  const tokenIn = (mail = ""): string => /\/sign-in#([\w-]+)/.exec(mail)?.[1] ?? "";
  const require = (org: number, by = "provider") => admin("org sign-in", { org, by }, service.apiUrl);
  const ask = (email: string) => dashboard().post("/sign-in/links", { email });
  const redeem = (token: string) => dashboard().post("/sign-in/sessions", { token });
  const mailed = async (email: string) => (await untilMailed(email, 1, service.apiUrl))[0];

  test("refuses mailed links; the operator and the provider let people in", async () => {
    const org = await createOrg();
    const email = "required@users.example";
    const { id: user } = await createUser(org, email);
    await ask(email);
    const earlier = tokenIn(await mailed(email));
    expect(await require(org)).toEqual({ id: org, signIn: "provider", sessionHours: 12 });
    expect(await admin("org show", { org }, service.apiUrl)).toMatchObject({ signIn: "provider" });

    const refused = await redeem(earlier);
    const unknown = await redeem("A".repeat(32));
    expect([refused.status, refused.body]).toEqual([401, unknown.body]);
    // Whoever asks for a link learns nothing, and gets none. A later mail shows that this one was worked off.
    const [known, stranger] = [await ask(email), await ask("nobody@users.example")];
    expect([known.status, known.body]).toEqual([stranger.status, stranger.body]);
    await createUser(await createOrg(), "later@users.example");
    await ask("later@users.example");
    await mailed("later@users.example");
    expect(await mailsTo(email, service.apiUrl)).toHaveLength(1);

    const { url } = await admin("user sign-in-link", { org, user }, service.apiUrl);
    expect((await redeem(new URL(url as string).hash.slice(1))).status).toBe(201);
    expect((await signIn(email)).reply.status).toBe(201);
    await require(org, "any");
    expect((await redeem(earlier)).status).toBe(201);
  });

  test("has sessions of 12 hours, or as many as the operator says", async () => {
    const org = await createOrg();
    await createUser(org, "hours@users.example");
    await require(org);
    const { browser } = await signIn("hours@users.example");
    const hours = async (): Promise<number> => {
      const { createdAt, expiresAt } = (await browser.ask("GET", "/session")).body.session as never;
      return (Date.parse(expiresAt) - Date.parse(createdAt)) / 3_600_000;
    };
    expect(await hours()).toBe(12);
    const set = (by: string, given?: string) =>
      admin("org sign-in", { org, by, ...(given && { "session-hours": given }) }, service.apiUrl);
    expect(await set("provider", "1")).toMatchObject({ sessionHours: 1 });
    expect(await hours()).toBe(1);
    expect((await browser.ask("GET", "/sessions")).body.sessions).toHaveLength(1);
    for (const given of ["0", "721", "12h", "-1", "1.5", " "])
      await expect(set("provider", given)).rejects.toThrow(/--session-hours: must be/);
    expect(await set("any")).toEqual({ id: org, signIn: "any", sessionHours: 720 });
    expect(await admin("org show", { org }, service.apiUrl)).toMatchObject({ sessionHours: 720 });
  });

  test("can be chosen by the refusal's link, and not by a mailed one", async () => {
    const [strict, lax] = [await createOrg("Strict"), await createOrg("Lax")];
    for (const org of [strict, lax]) await createUser(org, "both@users.example");
    await require(strict);
    await ask("both@users.example");
    const token = tokenIn(await mailed("both@users.example"));
    expect((await redeem(token)).body).toMatchObject({ organization: { id: lax } });
    const { reply } = await signIn("both@users.example");
    const chosen = { token: reply.body.token, organizationId: strict };
    expect((await dashboard().post("/sign-in/sessions", chosen)).status).toBe(201);
  });

  test("invites without a token", async () => {
    const org = await createOrg();
    await createUser(org, "host@users.example");
    await require(org);
    const { browser } = await signIn("host@users.example");
    const invited = await browser.ask("POST", "/members", { email: "guest@users.example", role: "member" });
    expect(invited).toMatchObject({ status: 201, body: { invitationSent: true } });
    const mail = await mailed("guest@users.example");
    expect(tokenIn(mail)).toBe("");
    expect(mail).toContain(new URL("/api/app/", service.apiUrl).href);
    expect((await signIn("guest@users.example")).reply.status).toBe(201);
  });
});

describe("the provider's button", () => {
  useBrowser();

  const button = { name: "Sign in with Acme ID" };
  const person = (email: string) => {
    provider.person = { email, email_verified: true };
  };
  const newUser = async (name?: string) => createVisitor(await createOrg(name), { apiUrl: service.apiUrl });

  test("leads there and back, to the page that was asked for", async () => {
    const user = await newUser();
    person(user.email);
    const { page, watch } = await visit([], service.apiUrl);
    watch.expect("401 /api/v1/activity", `request to ${provider.issuer}`);
    await page.goto(urlOf("/activity", service.apiUrl));
    await page.getByRole("button", button).click();
    await page.getByRole("heading", { level: 1, name: "Activity" }).waitFor();
    expect(page.url()).toBe(urlOf("/activity", service.apiUrl));
    await page.getByRole("banner").getByText(user.email, { exact: true }).waitFor();
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

  /** The urls of the provider's page that the page goes to. */
  const goingTo = (page: Page) => {
    const urls: URL[] = [];
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.href.startsWith(`${provider.issuer}/auth?`)) urls.push(url);
    });
    return { urls, prompts: () => urls.map(({ searchParams }) => searchParams.get("prompt")) };
  };
  const refusedBy = (sessions: number) => `${sessions} /api/dashboard/sign-in/provider/sessions`;

  test("asks for another account after a refusal or a sign-out", async () => {
    const user = await newUser();
    const { page, watch } = await visit([], service.apiUrl);
    watch.expect(refusedBy(403), `request to ${provider.issuer}`);
    const { prompts } = goingTo(page);
    await page.goto(urlOf("/sign-in", service.apiUrl));
    person("private@mail.example");
    await page.getByRole("button", button).click();
    await page.getByRole("alert").getByText("Nobody here has the e-mail address").waitFor();
    person(user.email);
    await page.getByRole("button", button).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", button).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(prompts()).toEqual([null, "login", "login"]);
  });

  test("asks for another account on some retries after refusals", async () => {
    provider.person = undefined;
    const { page, watch } = await visit([], service.apiUrl);
    watch.expect(refusedBy(401), `request to ${provider.issuer}`);
    const { prompts } = goingTo(page);
    await page.goto(urlOf("/sign-in", service.apiUrl));
    for (const count of [1, 2, 3, 4]) {
      await page.getByRole("button", button).click();
      await expect.poll(() => prompts().length, { timeout: 60_000 }).toBe(count);
      await page.getByRole("alert").getByText("The identity provider refused").waitFor();
    }
    expect(prompts()).toEqual([null, null, "login", null]);
  });

  test("is clicked once by a portal's tile if nobody is signed in", async () => {
    const user = await newUser();
    const tile = urlOf(`/sign-in?iss=${encodeURIComponent(provider.issuer)}`, service.apiUrl);
    const { page, watch } = await visit([], service.apiUrl);
    watch.expect(refusedBy(401), `request to ${provider.issuer}`);
    const { urls } = goingTo(page);
    provider.person = undefined;
    await page.goto(tile);
    await page.getByRole("alert").getByText("The identity provider refused to sign you in.").waitFor();
    await page.reload();
    await page.getByRole("button", button).waitFor();
    expect(page.url()).toBe(urlOf("/sign-in", service.apiUrl));
    expect(urls).toHaveLength(1);

    person(user.email);
    await page.goto(tile);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(urls).toHaveLength(2);
    await page.goto(tile);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(urls).toHaveLength(2);
  });

  test("needs a click for a foreign issuer or a foreign error", async () => {
    const { page } = await visit([], service.apiUrl);
    const { urls } = goingTo(page);
    const own = encodeURIComponent(provider.issuer);
    for (const query of [
      "iss=https://attacker.example",
      `iss=${own}.attacker.example`,
      `error=x&iss=${own}`,
      "iss=",
    ]) {
      await page.goto(urlOf(`/sign-in?${query}`, service.apiUrl));
      await page.getByRole("button", button).waitFor();
    }
    expect(urls).toEqual([]);
  });

  test("comes first, and the hint about a cut link last", async () => {
    const { page } = await visit([], service.apiUrl);
    await page.goto(urlOf("/sign-in", service.apiUrl));
    const ways = [
      page.getByRole("button", button),
      page.getByRole("button", { name: "Send sign-in link" }),
      page.getByText("Did a link in an e-mail bring you here?"),
    ];
    const tops = [];
    for (const way of ways) tops.push((await way.boundingBox())?.y ?? Number.NaN);
    expect(tops).toEqual(tops.toSorted((one, other) => one - other));
  });

  test("lets users of several organizations choose", async () => {
    const user = await newUser("First");
    const { apiUrl } = service;
    await createUser(await createOrg("Second"), user.email);
    person(user.email);
    const { page, watch } = await visit([], apiUrl);
    watch.expect("409 /api/dashboard/sign-in/provider/sessions", `request to ${provider.issuer}`);
    await page.goto(urlOf("/sign-in", apiUrl));
    await page.getByRole("button", button).click();
    await page.getByRole("button", { name: "Second" }).click();
    await go(page, "E-mails");
    await page.getByRole("banner").getByText("Second").waitFor();
  });

  test("refuses another account until an admin allows it", async () => {
    const org = await createOrg();
    const user = await createVisitor(org, { apiUrl: service.apiUrl });
    expect((await signIn(user.email, { sub: "first" })).reply.status).toBe(201);
    person(user.email);
    const { page, watch } = await visit([], service.apiUrl);
    watch.expect("403 /api/dashboard/sign-in/provider/sessions", `request to ${provider.issuer}`);
    await page.goto(urlOf("/sign-in", service.apiUrl));
    await page.getByRole("button", button).click();
    await page.getByRole("alert").getByText("Another account at the identity provider").waitFor();

    const admins = await createVisitor(org, { apiUrl: service.apiUrl });
    const { page: settings } = await signInAs(admins, [], "/settings/members");
    const row = settings.getByRole("row").filter({ hasText: user.email });
    await row.getByRole("button", { name: "Forget account" }).click();
    const dialog = settings.getByRole("dialog", { name: `Forget the account of ${user.email}?` });
    await dialog.getByRole("button", { name: "Forget account" }).click();
    await dialog.waitFor({ state: "detached" });
    await settings.getByText(`The next account with the address ${user.email} can sign in.`).waitFor();
    await row.getByRole("button", { name: "Forget account" }).waitFor({ state: "detached" });

    await page.getByRole("button", button).click();
    await go(page, "E-mails");
  });

  test("opens another tab if the session ended; typed text stays", async () => {
    const user = await newUser();
    person(user.email);
    const { page, watch } = await signInAs(user);
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

test("no code, token, secret or name of an attempt is in a log or in the output", async () => {
  const seen = (await readLogs(service.apiUrl)) + service.output();
  expect(seen).toContain("/sign-in/provider/sessions");
  expect(seen).toContain("identity provider failed");
  expect(provider.secrets.length).toBeGreaterThan(50);
  expect(provider.secrets.filter((secret) => seen.includes(secret))).toEqual([]);
});
