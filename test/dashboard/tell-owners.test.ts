import { expect, test } from "vitest";
import { expectEveryHeader, expectRefusal, unknownId } from "../endpoints/reply.ts";
import { addBreachedEmail } from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { activity } from "./activity.ts";
import { mailsTo } from "./outbox.ts";
import { signedIn } from "./signed-in.ts";

const create = async () => {
  const name = `Acme ${Math.random()}`;
  const organization = await createOrganization({ name });
  const user = await signedIn(organization.id, { role: "member" });
  const email = await addBreachedEmail(organization);
  await scan(organization.api);
  const { findings } = (await user.dashboard.get("/findings")).body as { findings: { id: number }[] };
  const ids = findings.map(({ id }) => id);
  const tell = (body: unknown) => user.dashboard.post("/findings/tell", body);
  const mails = async () => (await mailsTo("ada@demo.example")).filter((mail) => mail.includes(name));
  const ownerOf = async () => (await user.dashboard.get(`/emails/${email}`)).body.owner;
  return { ...organization, name, user, ids, tell, mails, ownerOf };
};

test("202: one mail, with what leaked, what to do and a link to unsubscribe", async () => {
  const { ids, tell, mails, ownerOf, user, name } = await create();
  expect(await ownerOf()).toEqual({ hasUnsubscribed: false, lastMessage: null });
  const reply = await tell({ ids });
  expectEveryHeader(reply);
  expect(reply).toMatchObject({ status: 202, body: { matching: 1 } });
  expect((await tell({ ids })).body).toEqual({ matching: 0 });
  const [mail = ""] = await eventually(mails, ({ length }) => length === 1);
  expect(mail).toContain(`If you have questions, ask ${name}.`);
  expect(mail).toContain("Change your password there");
  const url = /^List-Unsubscribe: <(\S+)>/m.exec(mail)?.[1] ?? "";
  expect(mail).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  await eventually(
    ownerOf,
    (owner) => (owner as { lastMessage: { status: string } }).lastMessage.status === "delivered",
  );
  expect(await activity(user.v1, "findings.told")).toMatchObject([
    { summary: "Told the owner of 1 email of their findings", actor: { label: user.email } },
  ]);
  expect((await fetch(url, { method: "POST", body: "List-Unsubscribe=One-Click" })).status).toBe(200);
  expect(await ownerOf()).toMatchObject({ hasUnsubscribed: true });
});

test("400: no ids, more than a hundred, or something else", async () => {
  const { tell } = await create();
  const many = Array.from({ length: 101 }, (_, index) => index + 1);
  for (const body of [{}, { ids: [] }, { ids: many }, { ids: ["1"] }, { ids: [0] }, { ids: 1 }]) {
    expectRefusal(await tell(body), 400, /ids/);
  }
});

test("404: an id of nobody or of another organization, and nobody is told", async () => {
  const [own, other] = [await create(), await create()];
  for (const id of [unknownId, other.ids[0]]) {
    expectRefusal(await own.tell({ ids: [...own.ids, id] }), 404, /No breach finding/);
  }
  expect([await own.mails(), await other.mails()]).toEqual([[], []]);
  expect((await own.tell({ ids: own.ids })).body).toEqual({ matching: 1 });
});
