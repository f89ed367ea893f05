import { expect } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import type { Client } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";

export const withFindings = async (): Promise<{
  api: Client;
  organization: { id: number };
  total: number;
}> => {
  const { api, domainId, id } = await createOrganization();
  await addEmail(api, domainId, "ada@demo.example");
  await scan(api);
  const { total } = (await api.get("/breaches")).body;
  expect(total).toBeGreaterThan(1);
  return { api, organization: { id }, total: total as number };
};
