import type { Client, Reply } from "../service/client.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";

export type Finding = Record<string, unknown> & { id: number; emailId: number; breach: { id: number } };

export const findingsOf = async ({ api }: Organization): Promise<Finding[]> =>
  await api.list("/breaches?limit=100");

/** Findings of the two e-mails: three of the one and four of the other. */
export const findingCount = 7;

/** Creates an organization with two e-mails and their findings. */
export const createWithFindings = async (): Promise<Organization> => {
  const organization = await createOrganization();
  const { api, domainId } = organization;
  await api.post("/emails", { email: "ada@demo.example", domainId });
  await api.post("/emails", { email: "grace@demo.example", domainId });
  await scan(api);
  return organization;
};

export const requestMany = (api: Client, body: unknown): Promise<Reply> =>
  api.post("/breaches/acknowledgements", body);

/** Waits until a request has ended; gives it as the endpoint shows it. */
export const ended = (api: Client, { body: { id } }: Reply): Promise<Reply["body"]> =>
  eventually(
    async () => (await api.get(`/breaches/acknowledgements/${id}`)).body,
    ({ status }) => status !== "running",
  );
