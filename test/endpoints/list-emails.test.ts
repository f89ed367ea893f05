import { beforeAll, describe, expect, test } from "vitest";
import { listEmails } from "../../functions/list-emails/endpoint.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { numberedAddresses } from "./emails.ts";
import { expectInvalid } from "./invalid.ts";
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

  test("newest first: highest id first, 50 unless limit says otherwise, up to 100", async () => {
    const [byDefault, hundred] = await Promise.all([list(""), list("?limit=100")]);
    expect([byDefault.emails.length, byDefault.total]).toEqual([50, count]);
    expect([hundred.emails.length, hundred.total]).toEqual([count, count]);
    const ids = hundred.emails.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    expect(byDefault.emails).toEqual(hundred.emails.slice(0, 50));
    expect(await list(`?offset=${count}`)).toEqual({ emails: [], total: count });
  });

  test("pages of any size show each e-mail exactly once", async () => {
    const whole = (await list("?limit=100")).emails;
    for (const limit of [7, 32]) {
      const offsets = Array.from({ length: Math.ceil(count / limit) }, (_, page) => page * limit);
      const pages = await Promise.all(offsets.map((offset) => list(`?limit=${limit}&offset=${offset}`)));
      expect(pages.flatMap(({ emails }) => emails)).toEqual(whole);
    }
  });
});

describe("200 with filters", () => {
  let organization: Organization;
  let domains: [number, number];
  let teams: [number, number];

  // One e-mail for each combination of domain, team (or none) and state.
  beforeAll(async () => {
    organization = await createOrganization();
    const { id: org, api, domainId } = organization;
    domains = [domainId, (await admin("domain add", { org, name: "two.example", verified: true })).id];
    const team = async (name: string) => (await admin("team create", { org, name })).id;
    teams = [await team("One"), await team("Two")];
    const names = ["demo.example", "two.example"];
    const combinations = domains.flatMap((domain, index) =>
      [undefined, ...teams].flatMap((teamId) =>
        [true, false].map((isActive) => ({ domain, name: names[index], teamId, isActive })),
      ),
    );
    await Promise.all(
      combinations.map(async ({ domain, name, teamId, isActive }) => {
        const email = `t${teamId ?? 0}-${isActive}@${name}`;
        const { id } = (await api.post("/emails", { email, domainId: domain, teamId })).body;
        if (!isActive) await api.patch(`/emails/${id}`, { isActive });
      }),
    );
  });

  const addresses = async (query: string) => {
    const { emails, total } = (await organization.api.get(`/emails?${query}`)).body as Listed;
    expect(total).toBe(emails.length);
    return emails.map(({ email }) => email).sort();
  };

  test("each filter alone, with the filtered total", async () => {
    expect(await addresses("")).toHaveLength(12);
    expect(await addresses("isActive=true")).toHaveLength(6);
    const inactive = await addresses("isActive=false");
    expect(inactive).toHaveLength(6);
    expect(inactive.every((email) => email.includes("-false@"))).toBe(true);
    const ofSecond = await addresses(`domainId=${domains[1]}`);
    expect(ofSecond).toHaveLength(6);
    expect(ofSecond.every((email) => email.endsWith("@two.example"))).toBe(true);
    const ofTeam = await addresses(`teamId=${teams[0]}`);
    expect(ofTeam).toHaveLength(4);
    expect(ofTeam.every((email) => email.startsWith(`t${teams[0]}-`))).toBe(true);
  });

  test("filters combine with AND", async () => {
    expect(await addresses(`domainId=${domains[0]}&teamId=${teams[1]}&isActive=false`)).toEqual([
      `t${teams[1]}-false@demo.example`,
    ]);
    expect(await addresses(`domainId=${domains[1]}&isActive=true`)).toHaveLength(3);
  });

  test("the total is of all that match, whatever the page", async () => {
    const { emails, total } = (await organization.api.get("/emails?isActive=true&limit=2&offset=5"))
      .body as Listed;
    expect([emails.length, total]).toEqual([1, 6]);
  });
});

describe("400", () => {
  test.each([
    ["isActive=TRUE", /^isActive/],
    ["isActive=1", /^isActive/],
    ["isActive=", /^isActive/],
    ["isActive=true&isActive=true", /^isActive/],
    ["domainId=demo.example", /^domainId/],
    ["domainId=0", /^domainId/],
    ["teamId=null", /^teamId/],
    ["teamId=-1", /^teamId/],
  ])("%s; the error names the parameter", (query, error) => expectInvalid(listEmails, { query }, error));
});

describe("500", () => {
  test("an unexpected failure says Internal error and nothing else", async () => {
    const { id: org, api, domainId } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    // A state that the service never produces: an e-mail whose domain does not exist.
    await table.remove(keys.domain(org, domainId));
    expectRefusal(await api.get("/emails"), 500, /^Internal error$/);
  });
});
