import { beforeAll, describe, expect, inject, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { createPasskey, type TestPasskey, wrongAnswers } from "../access/sign-in/authenticator.ts";
import { countStatuses, expectRefusal } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import type { Reply } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { addPasskey, beginPasskey, beginSignIn, ownOrigin, redeemPasskey } from "./passkeys.ts";
import { browserWith, signedIn, visitor } from "./signed-in.ts";

const newUser = async (options: { counts?: boolean } = {}) => {
  const { id: org } = await createOrganization({ name: "Acme" });
  const user = await signedIn(org);
  const passkey = await addPasskey(user.dashboard, createPasskey(ownOrigin(), options));
  return { org, ...user, passkey };
};

const cookieOf = ({ headers }: Reply): string => String(headers["set-cookie"]).split(";")[0] ?? "";

const expectUnknown = (reply: Reply): void => {
  expectRefusal(reply, 401, /not known here/, { code: "passkey_unknown" });
  expect(reply.headers["set-cookie"]).toBeUndefined();
};
const expectUsed = (reply: Reply): void =>
  expectRefusal(reply, 401, /used already or took too long/, { code: "attempt_unknown" });

test("200: options that say nothing of who has passkeys", async () => {
  const reply = await visitor().post("/sign-in/passkeys/options");
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    options: {
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rpId: new URL(ownOrigin()).hostname,
      timeout: 300_000,
      userVerification: "required",
    },
  });
  expect(reply.headers["set-cookie"]).toBeUndefined();
});

describe("201", () => {
  test("a session of the passkey's user and organization, like that of a link", async () => {
    const { org, userId, email, dashboard, v1, passkey } = await newUser();
    const headers = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0" };
    const reply = await redeemPasskey(passkey.answer(await beginSignIn()), headers);
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      user: { id: userId, email, name: null, role: "admin" },
      organization: { id: org, name: "Acme" },
    });
    expect(String(reply.headers["set-cookie"])).toMatch(
      /^session=[0-9A-Za-z]{48}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const { body } = await browserWith(cookieOf(reply)).dashboard.get("/sessions");
    expect((body.sessions as object[])[0]).toMatchObject({
      isCurrent: true,
      createdBy: "user",
      browser: "Firefox on Linux",
    });
    expect(await activity(v1, "member.signed_in")).toMatchObject([
      {
        category: "teams",
        summary: expect.stringMatching(/^Signed in by a passkey from 127\.\d+\.\d+\.0\/24$/),
        actor: { type: "user", label: email },
      },
    ]);
    const { passkeys } = (await dashboard.get("/sessions")).body;
    const [{ lastUsedAt = "", createdAt = "" } = {}] = passkeys as {
      lastUsedAt?: string;
      createdAt?: string;
    }[];
    expect(lastUsedAt > createdAt).toBe(true);
    const users = (await admin("user list", { org })).users as { id: number; lastSignInAt: string }[];
    const { lastSignInAt } = users.find(({ id }) => id === userId) ?? { lastSignInAt: "" };
    expect(lastSignInAt >= createdAt).toBe(true);
  });

  test("ends the session of the browser's cookie", async () => {
    const { passkey } = await newUser();
    const other = await newUser();
    const headers = { cookie: other.cookie, origin: new URL(inject("apiUrl")).origin };
    expect((await redeemPasskey(passkey.answer(await beginSignIn()), headers)).status).toBe(201);
    expect((await other.dashboard.get("/session")).status).toBe(401);
  });

  test("a user of two organizations has passkeys of each, which lead there", async () => {
    const first = await newUser();
    const { id: org } = await createOrganization({ name: "Second" });
    const user = await signedIn(org, { email: first.email });
    const options = await beginPasskey(user.dashboard);
    expect(options.user.name).toBe(`${first.email} (Second)`);
    const second = await addPasskey(user.dashboard);
    for (const [passkey, organization] of [
      [first.passkey, first.org],
      [second, org],
    ] as const) {
      const { body } = await redeemPasskey(passkey.answer(await beginSignIn()));
      expect(body).toMatchObject({ organization: { id: organization } });
    }
  });

  test("of 12 simultaneous answers to one challenge one succeeds", async () => {
    const { passkey } = await newUser();
    const options = await beginSignIn();
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => redeemPasskey(passkey.answer(options))),
    );
    expect(countStatuses(replies)).toEqual({ 201: 1, 401: 11 });
    for (const reply of replies.filter(({ status }) => status === 401)) expectUsed(reply);
  });
});

test("401 attempt_unknown: a challenge that was used, of nobody, or to add a passkey", async () => {
  const { passkey, dashboard } = await newUser();
  const options = await beginSignIn();
  const answer = passkey.answer(options);
  expect((await redeemPasskey(answer)).status).toBe(201);
  expectUsed(await redeemPasskey(answer));
  expectUsed(await redeemPasskey(passkey.answer({ ...options, challenge: "A".repeat(43) })));
  const { challenge } = await beginPasskey(dashboard);
  expectUsed(await redeemPasskey(passkey.answer({ ...options, challenge })));
});

describe("401 passkey_unknown", () => {
  test("a passkey that was removed, or never added", async () => {
    const { passkey, dashboard } = await newUser();
    await dashboard.delete(`/passkeys/${passkey.id}`);
    expectUnknown(await redeemPasskey(passkey.answer(await beginSignIn())));
    const stranger = createPasskey(ownOrigin());
    stranger.register(await beginPasskey(dashboard));
    expectUnknown(await redeemPasskey(stranger.answer(await beginSignIn())));
  });

  test("a passkey that says it is another user's, or nobody's", async () => {
    const { passkey } = await newUser();
    const other = await newUser();
    const handles = [`${other.org}.${other.userId}`, "1", "0.0", "not a handle"];
    for (const handle of handles) {
      const userHandle = Buffer.from(handle).toString("base64url");
      expectUnknown(await redeemPasskey(passkey.answer(await beginSignIn(), { userHandle })));
    }
  });

  test("a passkey that does not say whose it is, in words about that", async () => {
    const { passkey } = await newUser();
    const { response, ...answer } = passkey.answer(await beginSignIn());
    const { userHandle: _, ...unnamed } = response;
    for (const response of [unnamed, { ...unnamed, userHandle: "" }])
      expectRefusal(
        await redeemPasskey({ ...answer, response }),
        401,
        /^This passkey does not say whose it is: sign in another way/,
        { code: "passkey_unknown" },
      );
  });

  test("a removed user's, even if another user has the address now", async () => {
    const { org, userId, email, passkey } = await newUser();
    // The last admin cannot be removed.
    await signedIn(org);
    await admin("user remove", { org, user: userId });
    expectUnknown(await redeemPasskey(passkey.answer(await beginSignIn())));
    await admin("user create", { org, email, role: "admin" });
    expectUnknown(await redeemPasskey(passkey.answer(await beginSignIn())));
  });

  test("of an organization that is being deleted", async () => {
    const { org, passkey } = await newUser();
    await admin("org delete", { org, name: "Acme" });
    expectUnknown(await redeemPasskey(passkey.answer(await beginSignIn())));
  });
});

describe("401 passkey_refused", () => {
  let passkey: TestPasskey;
  beforeAll(async () => {
    ({ passkey } = await newUser());
  });

  test.each([
    ...wrongAnswers,
    ["for adding a passkey", { type: "webauthn.create" }] as const,
    ["with another signature", { signature: Buffer.alloc(70).toString("base64url") }] as const,
  ])("an answer %s", async (_, changes) => {
    const reply = await redeemPasskey(passkey.answer(await beginSignIn(), changes));
    expectRefusal(reply, 401, /not valid here/, { code: "passkey_refused" });
    expect(reply.headers["set-cookie"]).toBeUndefined();
  });

  test("an answer whose counter did not grow, as of a copied passkey", async () => {
    const { passkey } = await newUser({ counts: true });
    passkey.counter = 6;
    expect((await redeemPasskey(passkey.answer(await beginSignIn()))).status).toBe(201);
    for (const counter of [6, 2]) {
      passkey.counter = counter;
      const reply = await redeemPasskey(passkey.answer(await beginSignIn()));
      expectRefusal(reply, 401, /not valid here/, { code: "passkey_refused" });
    }
  });
});

test("403 provider_required: where people come by the identity provider", async () => {
  const { org, passkey } = await newUser();
  await table.update(keys.organization(org), { set: { signIn: "provider" } });
  const reply = await redeemPasskey(passkey.answer(await beginSignIn()));
  expectRefusal(reply, 403, /identity provider/, { code: "provider_required" });
  expect(reply.headers["set-cookie"]).toBeUndefined();
});
