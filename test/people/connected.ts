import { inject } from "vitest";
import { type SignedIn, signedIn } from "../dashboard/signed-in.ts";
import { type Client, createClient } from "../service/client.ts";
import { createOrganization, type Organization } from "../service/organization.ts";

export type Connected = Organization &
  Pick<SignedIn, "dashboard" | "v1"> & {
    directoryId: number;
    token: string;
    /** Of SCIM. */
    url: string;
    /** A client of SCIM with the directory's token. */
    scim: Client;
  };

/** A client of SCIM that sends this token. */
export const scimClient = (token: string, apiUrl = inject("apiUrl")): Client =>
  createClient({ authorization: `Bearer ${token}` }, new URL("/api/scim/v2", apiUrl).href);

/** A fresh organization with an admin and a connected directory. */
export const connected = async (
  flags: Record<string, string> = {},
  options: { domain?: string; apiUrl?: string } = {},
): Promise<Connected> => {
  const organization = await createOrganization(flags, options);
  const { dashboard, v1 } = await signedIn(
    organization.id,
    options.apiUrl === undefined ? {} : { apiUrl: options.apiUrl },
  );
  const { body } = await dashboard.post("/directories", { name: "Entra" });
  const token = body.token as string;
  return {
    ...organization,
    dashboard,
    v1,
    directoryId: body.id as number,
    token,
    url: body.url as string,
    scim: scimClient(token, options.apiUrl),
  };
};
