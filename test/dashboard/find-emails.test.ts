import { beforeAll, describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
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
  test("without q as GET /api/v1/emails, filters and pages included", async () => {
    for (const query of ["", "limit=1&offset=1", `teamId=${teamId}`, "isActive=false"]) {
      const { body } = await organization.api.get(`/emails?${query}`);
      expect(await list(query)).toEqual(body);
    }
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
    expect(await list("q=%25%25")).toEqual({ emails: [], total: 0 });
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
    "q=ada&q=alan",
    "q=ada&limit=0",
  ])("%s", async (query) => expectRefusal(await user.dashboard.get(`/emails?${query}`), 400, /./));
});
