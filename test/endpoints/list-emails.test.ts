import { beforeAll, describe, expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { numberedAddresses } from "./emails.ts";
import { expectRefusal } from "./reply.ts";

type Listed = { total: number; emails: { id: number; email: string; isActive: boolean }[] };

describe("200 with pages", () => {
  const count = 60;
  let organization: Organization;

  beforeAll(async () => {
    organization = await createOrganization();
    const file = await writeAddresses(numberedAddresses(count));
    await admin("email import", { org: organization.id, file });
  });

  const list = async (query: string) => (await organization.api.get(`/emails${query}`)).body as Listed;

  test("newest first, 50 unless limit says otherwise, up to 100", async () => {
    const [byDefault, hundred] = await Promise.all([list(""), list("?limit=100")]);
    expect([byDefault.emails.length, byDefault.total]).toEqual([50, count]);
    expect([hundred.emails.length, hundred.total]).toEqual([count, count]);
    const ids = hundred.emails.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    expect(byDefault.emails).toEqual(hundred.emails.slice(0, 50));
    expect(await list(`?offset=${count}`)).toEqual({ emails: [], total: count });
  });
});

test("200: filters combine with AND, with the filtered total", async () => {
  const { id: org, api, domainId } = await createOrganization();
  const { id: second } = await admin("domain add", { org, name: "two.example", verified: true });
  const [one, two] = [
    (await admin("team create", { org, name: "One" })).id,
    (await admin("team create", { org, name: "Two" })).id,
  ];
  // One e-mail for each combination of domain, team (or none) and state.
  const combinations = [domainId, second].flatMap((domain) =>
    [undefined, one, two].flatMap((teamId) =>
      [true, false].map((isActive) => ({ domain, teamId, isActive })),
    ),
  );
  await Promise.all(
    combinations.map(async ({ domain, teamId, isActive }) => {
      const email = `t${teamId ?? 0}-${isActive}@${domain === second ? "two" : "demo"}.example`;
      const { id } = (await api.post("/emails", { email, domainId: domain, teamId })).body;
      if (!isActive) await api.patch(`/emails/${id}`, { isActive });
    }),
  );
  const all = await api.list("/emails");
  expect(all).toHaveLength(combinations.length);
  const filters: { domainId?: number; teamId?: number; isActive?: boolean }[] = [
    ...[{}, { isActive: true }, { isActive: false }, { domainId: second }, { teamId: one }],
    ...[
      { domainId, teamId: two, isActive: false },
      { domainId: second, isActive: true },
    ],
  ];
  for (const filter of filters) {
    const matching = all.filter(
      ({ domain, team, isActive }) =>
        domain.id === (filter.domainId ?? domain.id) &&
        (filter.teamId === undefined || team?.id === filter.teamId) &&
        isActive === (filter.isActive ?? isActive),
    );
    const query = Object.entries(filter)
      .map(([name, value]) => `${name}=${value}`)
      .join("&");
    const whole = { emails: matching, total: matching.length };
    expect([query, (await api.get(`/emails?${query}`)).body]).toEqual([query, whole]);
  }
});

test("500: an unexpected failure says Internal error and nothing else", async () => {
  const { id: org, api, domainId } = await createOrganization();
  await api.post("/emails", { email: "ada@demo.example", domainId });
  // A state that the service never produces: an e-mail whose domain does not exist.
  await table.remove(keys.domain(org, domainId));
  expectRefusal(await api.get("/emails"), 500, /^Internal error$/);
});
