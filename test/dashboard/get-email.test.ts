import { beforeAll, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id, { role: "member" });
});

// compare.test.ts has sub-addresses: the built-in breaches have none.
test("200: one e-mail as it is listed, with its sub-addresses and findings", async () => {
  const { api, domainId } = organization;
  const id = await addEmail(api, domainId, "ada@demo.example");
  await addEmail(api, domainId, "grace@demo.example");
  await scan(api);
  const { emails } = (await user.dashboard.get("/emails")).body as { emails: { id: number }[] };
  const listed = emails.find((email) => email.id === id);
  const { findings } = (await user.dashboard.get(`/findings?emailId=${id}`)).body;
  expect(findings).toHaveLength(3);
  expect(await user.dashboard.get(`/emails/${id}`)).toMatchObject({
    status: 200,
    body: { ...listed, subAddresses: [], findings },
  });
});

test("400: an id that is no number", async () =>
  expectRefusal(await user.dashboard.get("/emails/x"), 400, /./));

test("404: an unknown id", async () =>
  expectRefusal(await user.dashboard.get(`/emails/${unknownId}`), 404, /monitored email/));
