import { beforeAll, describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

type Listed = { emails: { id: number; email: string }[]; total: number };

let organization: Organization;
let user: SignedIn;
let teamId: number;

const list = async (query: string): Promise<Listed> => {
  const reply = await user.dashboard.get(`/emails?${query}`);
  expect(reply).toMatchObject({ status: 200 });
  return reply.body as unknown as Listed;
};
const addresses = async (query: string) => (await list(query)).emails.map(({ email }) => email);

beforeAll(async () => {
  organization = await createOrganization();
  const { id: org, api, domainId } = organization;
  user = await signedIn(org, { role: "member" });
  teamId = (await admin("team create", { org, name: "Team" })).id;
  const ada = await addEmail(api, domainId, "ada@demo.example");
  await addEmail(api, domainId, "alan@demo.example");
  const grace = await addEmail(api, domainId, "grace@demo.example");
  await user.dashboard.patch(`/emails/${ada}`, { teamId, ownerName: "Ada Lovelace" });
  await user.dashboard.patch(`/emails/${grace}`, { ownerName: "Grace Adele Hopper" });
});

describe("200", () => {
  test("without q as GET /api/v1/emails with severity, filters and pages included", async () => {
    for (const query of ["", "limit=1&offset=1", `teamId=${teamId}`, "isActive=false"]) {
      const { body } = await organization.api.get(`/emails?${query}`);
      const { emails, total } = await list(query);
      const listed = body.emails as object[];
      expect({ emails, total }).toEqual({
        emails: listed.map((email) => ({ ...email, severity: null })),
        total: body.total,
      });
      for (const email of listed) expect(email).not.toHaveProperty("severity");
    }
  });

  test("an e-mail's highest severity among open findings, null without any", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const viewer = await signedIn(org);
    await addEmail(api, domainId, "ada@demo.example");
    await addEmail(api, domainId, "nobody@demo.example");
    await scan(api);
    const shown = async () =>
      (await viewer.dashboard.get("/emails")).body.emails as { severity: string | null }[];
    const rank = ["critical", "high", "medium", "low"];
    const { body } = await api.get("/breaches?include=details&order=severity&limit=100");
    const found = body.breaches as { id: number; severity: string }[];
    expect(found.length).toBeGreaterThan(2);
    for (const [index, { id, severity }] of found.entries()) {
      const left = found.slice(index).map((each) => rank.indexOf(each.severity));
      expect(severity).toBe(rank[Math.min(...left)]);
      expect((await shown()).map((email) => email.severity)).toEqual([null, severity]);
      await api.post("/breaches/acknowledge", { id });
    }
    expect((await shown()).map(({ severity }) => severity)).toEqual([null, null]);
    const reopened = await api.post("/breaches/reopenings", { filter: {} });
    expect(reopened).toMatchObject({ status: 202 });
    await eventually(shown, ([, ada]) => ada?.severity === found[0]?.severity);
  });

  test("q finds addresses, domains and owners' names by how they begin", async () => {
    expect(await addresses("q=AD")).toEqual(["grace@demo.example", "ada@demo.example"]);
    expect(await addresses("q=lovel")).toEqual(["ada@demo.example"]);
    expect(await addresses("q=grace%20hop")).toEqual(["grace@demo.example"]);
    expect(await list("q=demo&limit=2")).toMatchObject({
      emails: [{ email: "grace@demo.example" }, { email: "alan@demo.example" }],
      total: 3,
    });
    expect(await list("q=nobody")).toEqual({ emails: [], total: 0 });
    for (const q of ["%25%25", "a%25", "__", "a_", "**", "a*", "%5B%5B", "%27a"])
      expect([q, await list(`q=${q}`)]).toEqual([q, { emails: [], total: 0 }]);
  });

  test("q together with filters", async () => {
    expect(await addresses(`q=ad&teamId=${teamId}`)).toEqual(["ada@demo.example"]);
    expect(await addresses(`q=demo&teamId=${teamId}`)).toEqual(["ada@demo.example"]);
    expect(await list("q=ad&isActive=false")).toEqual({ emails: [], total: 0 });
  });

  test("never an address of another organization", async () => {
    const other = await createOrganization();
    const { dashboard } = await signedIn(other.id);
    for (const q of ["ada", "lovelace"])
      expect((await dashboard.get(`/emails?q=${q}`)).body).toEqual({ emails: [], total: 0 });
  });
});

describe("400", () => {
  test.each([
    "q=a",
    "q=",
    "q=%CC%81%CC%81",
    `q=${"a".repeat(10_000)}`,
    "q=ab%00",
    "q=ab%1B",
    "q=a%20",
    "q=ada&q=alan",
    "q=ada&limit=0",
  ])("%s", async (query) => expectRefusal(await user.dashboard.get(`/emails?${query}`), 400, /./));
});
