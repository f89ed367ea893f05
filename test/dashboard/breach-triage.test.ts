import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import type { Row } from "../service/client.ts";
import { createScanned, type Scanned } from "../service/scanned.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Scanned;
let ada: SignedIn;
let grace: SignedIn;
let other: SignedIn;
let ids: number[];

beforeAll(async () => {
  const stranger = createScanned(["ada"]);
  organization = await createScanned(["ada", "grace"]);
  [ada, grace, other] = await Promise.all([
    signedIn(organization.id, { role: "member" }),
    signedIn(organization.id),
    signedIn((await stranger).id),
  ]);
  ids = (await ada.dashboard.list("/breaches")).map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(3);
});

const assign = (by: SignedIn, id: number | undefined, body: unknown) =>
  by.dashboard.put(`/breaches/${id}/assignee`, body);
const comment = (by: SignedIn, id: number | undefined, text: string) =>
  by.dashboard.post(`/breaches/${id}/comments`, { text });
const seen = async (by: SignedIn, id: number | undefined) => (await by.dashboard.get(`/breaches/${id}`)).body;
const listed = async (by: SignedIn, query: string): Promise<number[]> => {
  const { body } = await by.dashboard.get(`/breaches?${query}`);
  const { breaches, total } = body as { breaches: Row[]; total: number };
  expect(total).toBe(breaches.length);
  return breaches.map(({ id }) => id).sort();
};
const shown = ({ userId, email }: SignedIn) => ({ id: userId, label: email });

describe("PUT /breaches/{id}/assignee", () => {
  test("200: each sees in lists and details who has taken it", async () => {
    const [first, second] = ids;
    expect(await assign(ada, first, { userId: ada.userId })).toMatchObject({
      status: 200,
      body: { assignee: shown(ada) },
    });
    await assign(ada, second, { userId: grace.userId, replaces: null });
    for (const person of [ada, grace]) {
      expect(await seen(person, first)).toMatchObject({ assignee: shown(ada), comments: 0 });
      const [row] = await person.dashboard.list("/breaches");
      expect(row).toMatchObject({ id: first, assignee: shown(ada) });
      const { triage } = (await person.dashboard.get(`/findings?breachId=${second}`)).body;
      expect(triage).toEqual({ assignee: shown(grace), comments: 0 });
    }
    expect(await listed(ada, "assignee=me")).toEqual([first]);
    expect(await listed(grace, "assignee=me")).toEqual([second]);
    expect(await listed(ada, `assignee=${grace.userId}`)).toEqual([second]);
    const rest = ids.filter((id) => id !== first && id !== second).sort();
    expect(await listed(ada, "assignee=none")).toEqual(rest);
    expect(await seen(other, first)).toMatchObject({ assignee: null, comments: 0 });
    expect((await activity(ada.v1, "breach.assigned")).slice(0, 2)).toMatchObject([
      { summary: expect.stringMatching(`to ${grace.email}$`), actor: { label: ada.email } },
      { summary: expect.stringMatching(`^Assigned the breach .* to ${ada.email}$`), category: "findings" },
    ]);
  });

  test("409 if somebody else took it; repeats are not logged", async () => {
    const id = ids[2];
    const taking = (by: SignedIn) => assign(by, id, { userId: by.userId, replaces: null });
    const replies = await Promise.all([taking(ada), taking(grace)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [taker, late] = replies[0]?.status === 200 ? [ada, grace] : [grace, ada];
    const refusal = replies.find(({ status }) => status === 409);
    expectRefusal(refusal as NonNullable<typeof refusal>, 409, /has taken this breach/, {
      code: "assignee_changed",
    });
    expect(refusal?.body.error).toContain(taker.email);
    expect(await seen(late, id)).toMatchObject({ assignee: shown(taker) });
    const logged = (await activity(ada.v1, "breach.assigned")).length;
    expect((await taking(taker)).status).toBe(200);
    expect((await activity(ada.v1, "breach.assigned")).length).toBe(logged);
    // Whoever has seen the other one may take it over, and give it back.
    expect((await assign(late, id, { userId: late.userId, replaces: taker.userId })).status).toBe(200);
    expect((await assign(late, id, { userId: null })).body).toEqual({ assignee: null });
    expectRefusal(
      await assign(ada, id, { userId: ada.userId, replaces: late.userId }),
      409,
      /given .* back/,
      {
        code: "assignee_changed",
      },
    );
  });

  test("404 for unknown ids; a removed member is no assignee", async () => {
    const id = ids[3];
    for (const userId of [unknownId, other.userId])
      expectRefusal(await assign(ada, id, { userId }), 404, /No member/);
    expectRefusal(await assign(ada, unknownId, { userId: ada.userId }), 404, /no breach/);
    const leaver = await signedIn(organization.id);
    await assign(ada, id, { userId: leaver.userId });
    expect(await seen(ada, id)).toMatchObject({ assignee: shown(leaver) });
    await admin("user remove", { org: organization.id, user: leaver.userId });
    expect(await seen(ada, id)).toMatchObject({ assignee: null });
    expect(await listed(ada, "assignee=none")).toContain(id);
    expect(await listed(ada, `assignee=${leaver.userId}`)).toEqual([]);
    expect((await assign(ada, id, { userId: ada.userId, replaces: null })).status).toBe(200);
    expectRefusal(await assign(ada, id, { userId: leaver.userId }), 404, /No member/);
  });
});

test("people see the assignee's name; the log has the address, which can be erased", async () => {
  const { id: org } = await createScanned(["ada"]);
  const [by, named] = await Promise.all([signedIn(org), signedIn(org, { name: "Grace Hopper" })]);
  const [{ id } = { id: 0 }] = await by.dashboard.list("/breaches");
  const assignee = { id: named.userId, label: "Grace Hopper" };
  expect((await assign(by, id, { userId: named.userId })).body).toEqual({ assignee });
  await assign(by, id, { userId: null });
  const filter = { actor: String(named.userId) };
  await by.dashboard.post("/exports", { list: "activity", filter, rows: 2 });
  for (const action of ["breach.assigned", "activity.exported"])
    for (const { summary } of await activity(by.v1, action)) {
      expect(summary).toContain(named.email);
      expect(summary).not.toContain("Grace");
    }
});

describe("/breaches/{id}/comments", () => {
  test("201: plain text that all read, newest first, in pages", async () => {
    const [id] = ids;
    const text = "Provider asked.\n<b>Wait</b> for مرحبا";
    const reply = await comment(ada, id, `  ${text}\n`);
    expect(reply.status).toBe(201);
    const author = { type: "user", label: ada.email };
    expect(reply.body).toEqual({ id: 1, createdAt: expect.stringMatching(/Z$/), text, author });
    const several = await Promise.all([2, 3, 4, 5, 6].map((number) => comment(grace, id, `Again ${number}`)));
    expect(several.map(({ body }) => body.id).sort()).toEqual([2, 3, 4, 5, 6]);
    const read = async (query = "") =>
      (await grace.dashboard.get(`/breaches/${id}/comments${query}`)).body as {
        comments: Row[];
        total: number;
      };
    const { comments, total } = await read();
    expect(total).toBe(6);
    expect(comments.map(({ id: number }) => number)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(comments.at(-1)).toEqual(reply.body);
    expect(await read("?limit=2&offset=3")).toEqual({ comments: comments.slice(3, 5), total });
    expect(await read("?limit=4&offset=4")).toEqual({ comments: comments.slice(4), total });
    expect(await read("?offset=6")).toEqual({ comments: [], total });
    expect(await seen(grace, id)).toMatchObject({ comments: 6 });
    expect((await activity(ada.v1, "breach.commented")).length).toBe(6);
    expect((await other.dashboard.get(`/breaches/${id}/comments`)).body).toEqual({ comments: [], total: 0 });
    expectRefusal(await comment(ada, unknownId, "Nothing"), 404, /no breach/);
  });

  test("outlast the breach's findings and the author's removal", async () => {
    const emails = await createScanned(["ada"]);
    const [left, gone] = await Promise.all([signedIn(emails.id), signedIn(emails.id)]);
    const [{ id } = { id: 0 }] = await left.dashboard.list("/breaches");
    await comment(gone, id, "Handled by phone");
    await assign(gone, id, { userId: left.userId });
    await emails.api.delete(`/emails?id=${emails.emailIds[0]}`);
    await admin("user remove", { org: emails.id, user: gone.userId });
    const { findings, triage } = (await left.dashboard.get(`/findings?breachId=${id}`)).body;
    expect({ findings, triage }).toEqual({ findings: [], triage: { assignee: shown(left), comments: 1 } });
    expect((await left.dashboard.get(`/breaches/${id}/comments`)).body).toMatchObject({
      total: 1,
      comments: [{ text: "Handled by phone", author: { type: "removed", label: "Removed user" } }],
    });
    expect(await admin("check", { org: emails.id })).toMatchObject({ differences: [] });
  });
});
