import { addEmail } from "../endpoints/emails.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { scan } from "./scan.ts";

export type Scanned = Organization & { emailIds: number[]; scanId: number };

/** An organization whose scan has found these people of the built-in breaches: ada in three, grace in four. */
export const createScanned = async (
  names: readonly string[] = ["ada"],
  flags: Record<string, string> = {},
): Promise<Scanned> => {
  const organization = await createOrganization(flags);
  const { api, domainId } = organization;
  const emailIds: number[] = [];
  for (const name of names) emailIds.push(await addEmail(api, domainId, `${name}@demo.example`));
  const { id } = await scan(api);
  return { ...organization, emailIds, scanId: Number(id) };
};
