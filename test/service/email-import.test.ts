import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { writeAddresses } from "./addresses-file.ts";
import { admin } from "./admin.ts";
import { createOrganization } from "./organization.ts";

describe("admin email import", () => {
  test("imports every address once, counts the rest, logs one entry, and can be repeated", async () => {
    const { id: org, domain, api } = await createOrganization();
    const addresses = Array.from({ length: 120 }, (_, index) => `person${index}@${domain}`);
    const file = await writeAddresses(
      [...addresses, `PERSON1@${domain}`, "", "not an address", "a@elsewhere.example"].join("\r\n"),
    );
    expect(await admin("email import", { org, file })).toEqual({
      added: 120,
      disabled: 0,
      skipped: 0,
      invalid: 2,
      invalidLines: [123, 124],
    });
    expect((await api.get("/emails?limit=1")).body.total).toBe(120);
    expect((await api.get("/activity?category=monitoring")).body.activity).toMatchObject([
      { action: "emails.imported", summary: "Imported 120 addresses", actor: { label: "Administrator" } },
    ]);
    expect(await admin("email import", { org, file })).toMatchObject({ added: 0, skipped: 120 });
  });

  test("names the first lines that are no address of the organization's domains", async () => {
    const { id: org, domain } = await createOrganization();
    const lines = ["Email", "", `a@${domain}`, `email=b@${domain}`, `b@${domain},Bob`, `Ann|ann@${domain}`];
    const more = Array.from({ length: 20 }, (_, index) => `x${index}@elsewhere.example`);
    const file = await writeAddresses([...lines, ...more]);
    expect(await admin("email import", { org, file })).toEqual({
      added: 1,
      disabled: 0,
      skipped: 0,
      invalid: 24,
      invalidLines: [1, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    });
  });

  test("fails when no line can be used, and says what a file must hold", async () => {
    const { id: org, domain } = await createOrganization();
    const file = await writeAddresses(`\nemail,name\nx@${domain},X\n`);
    await expect(admin("email import", { org, file })).rejects.toThrow(
      "No line of the file is an address of the organization's domains, such as line 2: give one " +
        "address a line and nothing else.",
    );
    await expect(admin("email import", { org, file: await writeAddresses("\n \n") })).rejects.toThrow(
      "The file is empty: give one address a line.",
    );
  });

  test("finds the file relative to the caller's directory, and says where it looked", async () => {
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

  test("imports nothing when a domain is not verified, and says what to do", async () => {
    const { id: org, domain, domainId, api } = await createOrganization();
    await admin("domain unverify", { org, domain: domainId });
    const file = await writeAddresses(`a@${domain}`);
    await expect(admin("email import", { org, file })).rejects.toThrow(
      `The domain ${domain} is not verified: "domain verify --org ${org} --domain ${domainId}" says that it is.`,
    );
    expect((await api.get("/emails")).body.total).toBe(0);
  });
});
