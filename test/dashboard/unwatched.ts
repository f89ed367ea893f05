import { expect } from "vitest";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { signedIn } from "./signed-in.ts";

export type Unwatched = {
  id: number;
  email: string;
  severity: string | null;
  breachCount: number;
  ignored: boolean;
};
export type Listed = { addresses: Unwatched[]; total: number; unwatched: number; domains: unknown[] };

/** An organization that watches `nobody@demo.example` and was scanned: twelve addresses of the built-in breaches are unwatched. */
export const scanned = async (flags: Record<string, string> = {}) => {
  const organization = await createOrganization(flags);
  const { id: org, api } = organization;
  const file = await writeAddresses(["nobody@demo.example"]);
  await admin("email import", { org, file });
  await scan(api);
  const user = await signedIn(org, { role: "member" });
  const list = async (query = ""): Promise<Listed> => {
    const reply = await user.dashboard.get(`/unwatched?limit=100&${query}`);
    expect(reply.status).toBe(200);
    return reply.body as unknown as Listed;
  };
  const idOf = async (name: string): Promise<number> =>
    (await list()).addresses.find(({ email }) => email === `${name}@demo.example`)?.id ?? 0;
  const post = (path: "watch" | "ignore", body: unknown) => user.dashboard.post(`/unwatched/${path}`, body);
  const logged = async () =>
    ((await api.get("/activity")).body.activity as { action: string; summary: string }[]).map(
      ({ action, summary }) => `${action}: ${summary}`,
    );
  return { ...organization, user, list, idOf, post, logged };
};
