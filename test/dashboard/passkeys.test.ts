import { beforeAll, describe, expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { createPasskey, wrongAnswers } from "../access/sign-in/authenticator.ts";
import { presetCount } from "../endpoints/limit-window.ts";
import { countStatuses, expectRefusal, timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { mailsTo } from "./outbox.ts";
import { addPasskey, beginPasskey, beginSignIn, ownOrigin } from "./passkeys.ts";
import { browserWith, createSession, signedIn } from "./signed-in.ts";

const newUser = async () => {
  const { id: org } = await createOrganization({ name: "Acme" });
  return { org, ...(await signedIn(org)) };
};
type User = Awaited<ReturnType<typeof newUser>>;

const add = ({ dashboard }: Pick<User, "dashboard">, answer: object) =>
  dashboard.post("/passkeys", { answer });
const passkeysOf = async ({ dashboard }: Pick<User, "dashboard">) =>
  (await dashboard.get("/sessions")).body.passkeys as { id: string }[];
const newPasskey = () => createPasskey(ownOrigin());
const used = /used already or took too long/;

test("429 after 20 passkeys of a user in a UTC day, since each is told by e-mail", async () => {
  const { org, userId, dashboard } = await newUser();
  await presetCount(`PASSKEYS#${org}#${userId}`, 19, 86_400);
  await addPasskey(dashboard);
  const reply = await add({ dashboard }, newPasskey().register(await beginPasskey(dashboard)));
  expectRefusal(reply, 429, /Too many passkeys were added today/);
  expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
});

describe("success", () => {
  test("the options ask for a passkey of this host that proves who uses it", async () => {
    const user = await newUser();
    const first = await addPasskey(user.dashboard);
    const { status, body } = await user.dashboard.post("/passkeys/options");
    expect(status).toBe(200);
    expect(body).toEqual({
      options: {
        challenge: expect.stringMatching(/^[\w-]{43}$/),
        rp: { name: "Breach Monitor", id: new URL(ownOrigin()).hostname },
        user: { id: expect.any(String), name: `${user.email} (Acme)`, displayName: "" },
        pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: "public-key" })),
        timeout: 300_000,
        attestation: "none",
        excludeCredentials: [{ id: first.id, type: "public-key" }],
        authenticatorSelection: {
          residentKey: "required",
          requireResidentKey: true,
          userVerification: "required",
        },
        extensions: { credProps: true },
        hints: [],
      },
    });
  });

  test("a passkey is listed with its browser, newest first, for its user only", async () => {
    const { org, cookie, ...user } = await newUser();
    const other = await signedIn(org);
    expect(await passkeysOf(user)).toEqual([]);
    const first = await addPasskey(user.dashboard);
    const headers = { "user-agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/142.0.0.0" };
    const begun = await beginPasskey(user.dashboard);
    const second = newPasskey();
    const reply = await browserWith(cookie).dashboard.request("POST", "/passkeys", {
      headers,
      body: { answer: second.register(begun) },
    });
    const listed = { id: second.id, createdAt: timestamp, lastUsedAt: null, browser: "Chrome on macOS" };
    expect(reply).toMatchObject({ status: 201, body: listed });
    expect((await activity(user.v1, "passkey.added"))[0]?.summary).toBe("Added a passkey in Chrome on macOS");
    expect(await passkeysOf(user)).toEqual([listed, expect.objectContaining({ id: first.id })]);
    expect(await passkeysOf(other)).toEqual([]);
  });

  test("removing is for the own passkeys, and doing it again succeeds", async () => {
    const { org, ...user } = await newUser();
    const other = await signedIn(org);
    const [kept, removed] = [await addPasskey(user.dashboard), await addPasskey(user.dashboard)];
    const remove = ({ dashboard }: Pick<User, "dashboard">) => dashboard.delete(`/passkeys/${removed.id}`);
    expect((await remove(other)).status).toBe(200);
    expect(await passkeysOf(user)).toHaveLength(2);
    for (const _ of [1, 2])
      expect(await remove(user)).toMatchObject({ status: 200, body: { success: true } });
    expect(await passkeysOf(user)).toEqual([expect.objectContaining({ id: kept.id })]);
    const actor = { type: "user", label: user.email };
    expect(await activity(user.v1, "passkey.added")).toMatchObject([
      { category: "teams", summary: "Added a passkey", actor },
      { category: "teams", summary: "Added a passkey", actor },
    ]);
    expect(await activity(user.v1, "passkey.removed")).toMatchObject([
      { category: "teams", summary: "Removed a passkey", actor },
    ]);
    await admin("passkey remove", { org, user: user.userId, passkey: kept.id });
    expect((await activity(user.v1, "passkey.removed"))[0]).toMatchObject({
      summary: `Removed a passkey of ${user.email}`,
      actor: { type: "system", label: "Administrator" },
    });
  });

  test("the user gets an e-mail about each that is added or removed", async () => {
    const { org, ...user } = await newUser();
    const { id } = await addPasskey(user.dashboard);
    const subjects = async () =>
      (await mailsTo(user.email)).map((mail) => /^Subject: (.+?)\r?$/m.exec(mail)?.[1]);
    const added = "A passkey was added: Acme on Breach Monitor";
    await expect.poll(subjects).toEqual([added]);
    const [mail = ""] = await mailsTo(user.email);
    expect(mail).toMatch(/^http:\S+\/api\/app\/settings\/sessions\r?$/m);
    const remove = () => user.dashboard.delete(`/passkeys/${id}`);
    await Promise.all([remove(), remove()]);
    await expect.poll(subjects).toEqual([added, "A passkey was removed: Acme on Breach Monitor"]);
  });

  test("keeps 10 of 13 that are added at once, and one more after a removal", async () => {
    const user = await newUser();
    const [answer = {}, ...answers] = await Promise.all(
      Array.from({ length: 14 }, async () => newPasskey().register(await beginPasskey(user.dashboard))),
    );
    const replies = await Promise.all(answers.map((each) => add(user, each)));
    expect(countStatuses(replies)).toEqual({ 201: 10, 400: 3 });
    const kept = await passkeysOf(user);
    expect(kept).toHaveLength(10);
    const limit = { code: "passkey_limit_reached" };
    expectRefusal(await add(user, answer), 400, /already have 10/, limit);
    // Before a device makes one.
    expectRefusal(await user.dashboard.post("/passkeys/options"), 400, /already have 10/, limit);
    expect(await activity(user.v1, "passkey.added")).toHaveLength(10);
    await user.dashboard.delete(`/passkeys/${kept[0]?.id}`);
    expect((await add(user, answer)).status).toBe(201);
  });
});

describe("401 attempt_unknown", () => {
  const code = { code: "attempt_unknown" };

  test("for a used or invented challenge, or another session's", async () => {
    const { org, ...user } = await newUser();
    const other = await createSession(org, { id: user.userId, email: user.email });
    const options = await beginPasskey(user.dashboard);
    expectRefusal(await add(other, newPasskey().register(options)), 401, used, code);
    expect((await add(user, newPasskey().register(options))).status).toBe(201);
    expectRefusal(await add(user, newPasskey().register(options)), 401, used, code);
    const invented = { ...options, challenge: "A".repeat(43) };
    expectRefusal(await add(user, newPasskey().register(invented)), 401, used, code);
    expect(await passkeysOf(user)).toHaveLength(1);
  });

  test("a challenge to sign in, and one that is five minutes old", async () => {
    const user = await newUser();
    const options = await beginPasskey(user.dashboard);
    const key = keys.passkeyChallenge(options.challenge);
    const row = await table.get<{ expiresAt: number }>(key);
    expect((row?.expiresAt ?? 0) - Date.now() / 1000).toBeGreaterThan(240);
    // The table keeps the rows for days.
    await table.update(key, { set: { expiresAt: Math.floor(Date.now() / 1000) - 1 } });
    expectRefusal(await add(user, newPasskey().register(options)), 401, used, code);
    const { challenge } = await beginSignIn();
    expectRefusal(await add(user, newPasskey().register({ ...options, challenge })), 401, used, code);
  });
});

describe("401 passkey_refused", () => {
  let user: User;
  beforeAll(async () => {
    user = await newUser();
  });

  test.each([...wrongAnswers, ["for a sign-in", { type: "webauthn.get" }] as const])(
    "an answer %s",
    async (_, changes) => {
      const options = await beginPasskey(user.dashboard);
      const refused = await add(user, newPasskey().register(options, changes));
      expectRefusal(refused, 401, /not valid here/, { code: "passkey_refused" });
      // It leaves the attempt as it is.
      expect((await add(user, newPasskey().register(options))).status).toBe(201);
    },
  );
});

test("403 provider_required: where people come by the identity provider", async () => {
  const { org, dashboard } = await newUser();
  await table.update(keys.organization(org), { set: { signIn: "provider" } });
  const refused = await dashboard.post("/passkeys/options");
  expectRefusal(refused, 403, /identity provider/, { code: "provider_required" });
});

test("removing the user removes the passkeys", async () => {
  const { org, ...user } = await newUser();
  await signedIn(org);
  await addPasskey(user.dashboard);
  const row = () => table.get<{ passkeys?: object }>(keys.user(org, user.userId));
  expect(Object.keys((await row())?.passkeys ?? {})).toHaveLength(1);
  await admin("user remove", { org, user: user.userId });
  expect((await row())?.passkeys).toBeUndefined();
});
