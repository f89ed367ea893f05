import { afterAll, beforeAll } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { startOwnService } from "../service/own-service.ts";

/** What a test asks, and changes. `hibp`: the server whose answers may change between scans. */
type Changing = { hibp: HibpServer; service: LocalService; organization: Organization };

/**
 * Gives the tests of a file a service of their own. Its organization watches the addresses of a domain.
 * `breached`: the breaches of each, by the part before the @. `prepare` runs when all are watched.
 */
export const useChangingService = (
  domain: string,
  breached: Record<string, string[]>,
  prepare: (changing: Changing) => Promise<void>,
): Changing => {
  const changing = {} as Changing;
  beforeAll(async () => {
    if (noBrowser !== undefined) return;
    const hibp = await startHibpServer();
    hibp.covered.push(domain);
    Object.assign(changing, { hibp });
    const service = await startOwnService(["--memory", "--hibp-url", hibp.url]);
    Object.assign(changing, { service });
    const organization = await createOrganization({}, { domain, apiUrl: service.apiUrl });
    for (const [name, breaches] of Object.entries(breached)) {
      hibp.accounts[`${name}@${domain}`] = breaches;
      await addEmail(organization.api, organization.domainId, `${name}@${domain}`);
    }
    await prepare(Object.assign(changing, { organization }));
  });
  afterAll(async () => {
    await changing.service?.stop();
    await changing.hibp?.close();
  });
  return changing;
};
