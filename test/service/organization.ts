import { inject } from "vitest";
import { admin } from "./admin.ts";
import { type Client, createClient } from "./client.ts";

export type Organization = {
  id: number;
  /** The id of a verified domain. */
  domainId: number;
  domain: string;
  key: string;
  keyId: number;
  api: Client;
};

/**
 * Creates an organization with an API key and a verified domain, by default the domain of the built-in
 * breaches.
 */
export const createOrganization = async (
  flags: Record<string, string> = {},
  { domain = "demo.example", apiUrl = inject("apiUrl") }: { domain?: string; apiUrl?: string } = {},
): Promise<Organization> => {
  const { id } = await admin("org create", { name: "Test", "scan-every": "never", ...flags }, apiUrl);
  const added = await admin("domain add", { org: id, name: domain, verified: true }, apiUrl);
  const created = await admin("key create", { org: id, label: "Test key" }, apiUrl);
  const key = created.key as string;
  const api = createClient({ authorization: `Bearer ${key}` }, apiUrl);
  return { id, domainId: added.id, domain, key, keyId: created.id, api };
};

/** A client with a new API key of the organization. */
export const createKeyClient = async (org: number, apiUrl: string = inject("apiUrl")): Promise<Client> => {
  const { key } = await admin("key create", { org, label: "Test key" }, apiUrl);
  return createClient({ authorization: `Bearer ${key}` }, apiUrl);
};
