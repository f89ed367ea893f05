import { describe, expect, inject, test } from "vitest";
import { presetCount } from "../endpoints/limit-window.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import type { Reply } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { linkIn, mailsTo, untilMailed } from "./outbox.ts";
import { visitor } from "./signed-in.ts";

let addresses = 0;
const newAddress = (): string => `links-${++addresses}@demo.example`;

const askFor = (email: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  visitor(headers).post("/sign-in/links", { email });

describe("202", () => {
  test("a message with a link goes to the address, in whatever case it was typed", async () => {
    const { id: org } = await createOrganization();
    const email = newAddress();
    const { id } = await admin("user create", { org, email, role: "admin" });
    const reply = await askFor(` ${email.toUpperCase()} `);
    expect(reply).toMatchObject({ status: 202, body: { success: true } });
    const [mail = ""] = await untilMailed(email);
    const { href, hash, pathname, search } = linkIn(mail);
    expect(mail).toContain("The link works once, for 15 minutes.");
    expect(mail).toContain(`<a href="${href}"`);
    expect(href.startsWith(`${new URL(inject("apiUrl")).origin}/api/app/sign-in#`)).toBe(true);
    expect([pathname, search]).toEqual(["/api/app/sign-in", ""]);
    // 32 characters of 62: 190 bits.
    expect(hash).toMatch(/^#[0-9A-Za-z]{32}$/);
    const redeemed = await visitor().post("/sign-in/sessions", { token: hash.slice(1) });
    expect(redeemed).toMatchObject({ status: 201, body: { user: { id, email }, organization: { id: org } } });
  });

  test("nobody's address gets the same answer, and no message", async () => {
    const { id: org } = await createOrganization();
    const [known, removed, unknown] = [newAddress(), newAddress(), newAddress()];
    await admin("user create", { org, email: known, role: "admin" });
    const { id } = await admin("user create", { org, email: removed, role: "admin" });
    await admin("user remove", { org, user: id });
    const replies = [];
    for (const email of [removed, unknown, known]) replies.push(await askFor(email));
    const visible = ({ status, headers, body }: Reply) => ({
      status,
      body,
      headers: Object.keys(headers).sort(),
    });
    expect(replies.map(visible)).toEqual(Array(3).fill(visible(replies[2] as Reply)));
    // The mail that was asked for last is there, so the others are not on their way.
    await untilMailed(known);
    expect(await mailsTo(removed)).toEqual([]);
    expect(await mailsTo(unknown)).toEqual([]);
  });
});

test("429: exactly 5 an hour pass for an address, whether somebody has it or not", async () => {
  const { id: org } = await createOrganization();
  const known = newAddress();
  await admin("user create", { org, email: known, role: "admin" });
  for (const email of [known, newAddress()]) {
    await presetCount(`SIGN-IN#${email}`, 3, 3600);
    const replies = await Promise.all(Array.from({ length: 5 }, () => askFor(email)));
    expect(replies.map(({ status }) => status).sort()).toEqual([202, 202, 429, 429, 429]);
    const refused = replies.find(({ status }) => status === 429) as Reply;
    expectRefusal(refused, 429, /sign-in links/);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  }
});
