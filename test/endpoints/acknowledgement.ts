import type { Client, Reply } from "../service/client.ts";
import { eventually } from "../service/eventually.ts";
import type { Organization } from "../service/organization.ts";
import { createScanned } from "../service/scanned.ts";

export type Finding = Record<string, unknown> & { id: number; emailId: number; breach: { id: number } };

export const findingsOf = async ({ api }: Organization): Promise<Finding[]> =>
  await api.list("/breaches?limit=100");

/** Findings of the two e-mails: three of the one and four of the other. */
export const findingCount = 7;

/** Creates an organization with two e-mails and their findings. */
export const createWithFindings = (): Promise<Organization> => createScanned(["ada", "grace"]);

export const requestMany = (api: Client, body: unknown): Promise<Reply> =>
  api.post("/breaches/acknowledgements", body);

export const reopen = (api: Client, body: unknown): Promise<Reply> => api.post("/breaches/reopenings", body);

/** Waits until a request has ended; gives it as the endpoint shows it. */
const endedAt = (api: Client, path: string): Promise<Reply["body"]> =>
  eventually(
    async () => (await api.get(path)).body,
    ({ status }) => status !== "running",
  );
export const ended = (api: Client, { body: { id } }: Reply) =>
  endedAt(api, `/breaches/acknowledgements/${id}`);
export const reopened = (api: Client, { body: { id } }: Reply) => endedAt(api, `/breaches/reopenings/${id}`);
