import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { signedIn } from "../dashboard/signed-in.ts";
import { writeAddresses } from "./addresses-file.ts";
import { admin } from "./admin.ts";
import { createOrganization } from "./organization.ts";

describe("admin email import", () => {
  test("adds each address once, counts the rest, and logs one entry", async () => {
    const { id: org, domain, api } = await createOrganization();
    const addresses = Array.from({ length: 120 }, (_, index) => `person${index}@${domain}`);
    const file = await writeAddresses(
      [...addresses, `PERSON1@${domain}`, "", "not an address", "a@elsewhere.example"].join("\r\n"),
    );
    expect(await admin("email import", { org, file })).toEqual({
      added: 120,
      disabled: 0,
      skipped: 0,
      departed: 0,
      invalid: 1,
      invalidEntries: ["a@elsewhere.example"],
    });
    expect((await api.get("/emails?limit=1")).body.total).toBe(120);
    expect((await api.get("/activity?category=monitoring")).body.activity).toMatchObject([
      { action: "emails.imported", summary: "Imported 120 addresses", actor: { label: "Administrator" } },
    ]);
    expect(await admin("email import", { org, file })).toMatchObject({ added: 0, skipped: 120 });
  });

  test("takes the page's files: owners, teams, people who left", async () => {
    const { id: org, domain, api } = await createOrganization();
    const user = await signedIn(org);
    const rows = Array.from(
      { length: 600 },
      (_, index) => `Person ${index};p${index}@${domain};Sales;active`,
    );
    const file = await writeAddresses(
      ["Name;E-Mail;Department;Status", ...rows, `Left;left@${domain};Sales;suspended`].join("\r\n"),
    );
    expect(await admin("email import", { org, file, "leave-out-departed": true })).toEqual({
      added: 600,
      disabled: 0,
      skipped: 0,
      departed: 1,
      invalid: 0,
    });
    expect((await api.get("/emails?limit=1")).body.total).toBe(600);
    const [{ id }] = await user.dashboard.list("/emails?q=p7@");
    expect((await user.dashboard.get(`/emails/${id}`)).body).toMatchObject({
      email: `p7@${domain}`,
      ownerName: "Person 7",
      team: { name: "Sales" },
    });
    expect(await admin("email import", { org, file })).toMatchObject({ added: 1, skipped: 600, departed: 1 });
  });

  test("shows the first entries that are on none of the domains", async () => {
    const { id: org, domain } = await createOrganization();
    const others = Array.from({ length: 20 }, (_, index) => `x${index}@elsewhere.example`);
    const file = await writeAddresses([`a@${domain}`, `email=b@${domain}`, ...others]);
    expect(await admin("email import", { org, file })).toMatchObject({
      added: 1,
      invalid: 21,
      invalidEntries: [`email=b@${domain}`, ...others.slice(0, 9)],
    });
  });

  test("fails when nothing can be used, and says what to do", async () => {
    const { id: org } = await createOrganization();
    const importing = async (text: string) =>
      admin("email import", { org, file: await writeAddresses(text) });
    await expect(importing("email,name\nx@elsewhere.example,X\n")).rejects.toThrow(
      `No address of the file is of the organization's domains, such as "x@elsewhere.example": "domain ` +
        `list" shows the domains.`,
    );
    await expect(importing("\n \n")).rejects.toThrow("The file is empty.");
    await expect(importing("PK\u0003\u0004")).rejects.toThrow("a workbook: save it as CSV UTF-8.");
  });

  test("finds a file in the caller's directory, or says its path", async () => {
    const { id: org, domain } = await createOrganization();
    const file = await writeAddresses(`a@${domain}`);
    vi.stubEnv("INIT_CWD", dirname(file));
    expect(await admin("email import", { org, file: "addresses.txt" })).toMatchObject({ added: 1 });
    await expect(admin("email import", { org, file: "other.txt" })).rejects.toThrow(
      `The file ${join(dirname(file), "other.txt")} cannot be read.`,
    );
    await expect(admin("email import", { org, file: "" })).rejects.toThrow("--file must name a file.");
    vi.unstubAllEnvs();
  });

  test("imports nothing for an unverified domain, and says why", async () => {
    const { id: org, domain, domainId, api } = await createOrganization();
    await admin("domain unverify", { org, domain: domainId });
    const file = await writeAddresses(`a@${domain}`);
    await expect(admin("email import", { org, file })).rejects.toThrow(
      `The domain ${domain} is not verified: "domain verify --org ${org} --domain ${domainId}" says that it is.`,
    );
    expect((await api.get("/emails")).body.total).toBe(0);
  });
});
