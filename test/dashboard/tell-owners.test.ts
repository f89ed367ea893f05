import { expect, test } from "vitest";
import { admin } from "../service/admin.ts";
import { eventually } from "../service/eventually.ts";
import { createScanned } from "../service/scanned.ts";
import { activity } from "./activity.ts";
import { mailsTo } from "./outbox.ts";
import { signedIn } from "./signed-in.ts";

const create = async () => {
  const name = `Acme ${Math.random()}`;
  const organization = await createScanned(["ada"], { name });
  const user = await signedIn(organization.id, { role: "member" });
  const findings = await user.dashboard.list("/findings");
  const ids = findings.map(({ id }) => id);
  const tell = (body: unknown) => user.dashboard.post("/findings/tell", body);
  const mails = async () => (await mailsTo("ada@demo.example")).filter((mail) => mail.includes(name));
  const ownerOf = async () => (await user.dashboard.get(`/emails/${organization.emailIds[0]}`)).body.owner;
  return { ...organization, name, user, ids, tell, mails, ownerOf };
};

test("202: one mail, with what leaked, what to do and a link to unsubscribe, is listed", async () => {
  const { id: org, api, ids, tell, mails, ownerOf, user, name } = await create();
  const path = "/alert-configs/owners/deliveries";
  const list = async (query = "") => (await user.dashboard.get(path + query)).body;
  expect(await list()).toEqual({ channel: null, deliveries: [], total: 0 });
  expect(await ownerOf()).toEqual({ hasUnsubscribed: false, lastMessage: null });
  const preview = await tell({ ids, dryRun: true });
  expect(preview).toMatchObject({ status: 200, body: { matching: 1, mails: { left: 250 } } });
  expect(await list()).toMatchObject({ total: 0 });
  await admin("org mail-budget", { org, hour: 1, day: 100 });
  const reply = await tell({ ids });
  expect(reply).toMatchObject({ status: 202, body: { matching: 1 } });
  expect((await tell({ ids })).body).toEqual({ matching: 0 });
  const [mail = ""] = await eventually(mails, ({ length }) => length === 1);
  expect(mail).toContain(`If you have questions, ask ${name}.`);
  expect(mail).toContain("Change your password there");
  // The hour is used up, or another has begun since.
  expect((await tell({ ids, dryRun: true })).body).toMatchObject({
    matching: 0,
    mails: { left: expect.toBeOneOf([0, 1]), until: expect.stringMatching(/:00:00\.000Z$/) },
  });
  await admin("org mail-budget", { org, hour: 0, day: 0 });
  expect((await tell({ ids, dryRun: true })).body.mails).toMatchObject({
    left: 0,
    until: expect.stringMatching(/T00:00:00\.000Z$/),
  });
  const url = /^List-Unsubscribe: <(\S+)>/m.exec(mail)?.[1] ?? "";
  expect(mail).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  expect(await activity(user.v1, "findings.told")).toMatchObject([
    { summary: "Told the owner of 1 address of their findings", actor: { label: user.email } },
  ]);

  const { deliveries, total } = await eventually(
    () => list("?status=delivered"),
    (body) => body.total === 1,
  );
  expect(total).toBe(1);
  expect(await ownerOf()).toMatchObject({ lastMessage: { status: "delivered" } });
  const [{ id, owner, ...listed }] = deliveries as [{ id: number; owner: { emailId: number } }];
  expect(listed).toMatchObject({ type: "breach", attempts: 1, failureReason: null, waitsFor: null });
  expect(listed).toMatchObject({ title: expect.stringMatching(/\(invented\) and 2 more: 1 person$/) });
  expect(owner).toEqual({ emailId: expect.any(Number), email: "ada@demo.example" });
  const { deliveries: byOperator } = await admin("delivery list", { org, channel: "owners" });
  expect(byOperator).toMatchObject([{ id, status: "delivered", emailId: owner.emailId }]);
  const { body } = await user.dashboard.get(`${path}/${id}`);
  expect(body).toMatchObject({ id, owner, payload: expect.stringMatching(/^Subject: .*your address is in/) });
  expect(body.payload).not.toMatch(/Unsubscribe|recipient#/);

  expect((await fetch(url, { method: "POST", body: "List-Unsubscribe=One-Click" })).status).toBe(200);
  expect(await ownerOf()).toMatchObject({ hasUnsubscribed: true });
  await api.delete(`/emails?id=${owner.emailId}`);
  expect(await list()).toMatchObject({ deliveries: [{ id, owner: null }] });
});
