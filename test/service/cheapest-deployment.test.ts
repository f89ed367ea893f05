/** A deployment with `-c alarms=minimal`, whose HIBP key is a parameter that an operator makes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import { type LocalService, startService } from "../../local/harness/service.ts";
import { synthesize } from "../../local/synthesis.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { createOrganization, type Organization } from "./organization.ts";

const assembly = join(mkdtempSync(join(tmpdir(), "cheapest-deployment-")), "cdk.out");
let hibp: HibpServer;
let service: LocalService;
let organization: Organization;
let parameter: string;
beforeAll(async () => {
  hibp = await startHibpServer();
  hibp.accounts["ada@demo.example"] = ["Alpha", "Beta"];
  await synthesize(assembly, { alarms: "minimal" }, AbortSignal.timeout(120_000));
  service = await startService(["--memory", "--hibp-url", hibp.url], {}, assembly);
  organization = await createOrganization({}, { apiUrl: service.apiUrl });
  parameter = (await readLocalStack(service.apiUrl)).outputs.HibpApiKeyParameter ?? "";
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await hibp?.close();
  rmSync(dirname(assembly), { recursive: true, force: true });
});

const ended = async () => {
  const { body } = await organization.api.get("/scans");
  return (body.scans as { status: string; errorMessage: string | null }[])[0];
};
const scan = async () => {
  expect((await organization.api.post("/scans")).status).toBe(201);
  return eventually(ended, (latest) => ["completed", "failed"].includes(latest?.status ?? ""), 120);
};

test("a scan before the key is stored fails, and one after it finds breaches", async () => {
  const { domainId, api } = organization;
  expect((await api.post("/emails", { email: "ada@demo.example", domainId })).status).toBe(201);
  expect(await scan()).toMatchObject({ status: "failed", errorMessage: expect.stringMatching(/key/) });
  const put = { Name: parameter, Type: "SecureString", Value: "0".repeat(32) } as const;
  await new SSMClient({}).send(new PutParameterCommand(put));
  expect(await scan()).toMatchObject({ status: "completed" });
  expect((await api.get("/breaches")).body).toMatchObject({ total: 2 });
}, 240_000);
