import { createHash } from "node:crypto";
import { DeleteParameterCommand, PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { perMinute } from "../../shared/contract/limits.ts";
import { createUser, signIn, urlOf, useBrowser, visit } from "../browser/visit.ts";
import { presetCount, subjects } from "../endpoints/limit-window.ts";
import { synthesizeWith } from "./assembly.ts";
import { type Client, createClient } from "./client.ts";
import { readLocalStack, readLogs } from "./local-stack.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { scan } from "./scan.ts";

const secret = "0123456789abcdef".repeat(4);
const hash = createHash("sha256").update(secret).digest("hex");
const wrongSecret = `${secret.slice(0, -1)}0`;

/** A domain that the subscription covers, which the service asks at most once a minute. */
const large = "large.example";

let hibp: HibpServer;
let service: LocalService;
let organization: Organization;
beforeAll(async () => {
  hibp = await startHibpServer();
  hibp.accounts["ada@demo.example"] = ["Alpha", "Beta"];
  hibp.covered = [large];
  const assembly = synthesizeWith({ alarms: "minimal", trustedProxySecretSha256: hash });
  service = await startOwnService(["--memory", "--hibp-url", hibp.url], {}, assembly);
  organization = await createOrganization({}, { apiUrl: service.apiUrl });
});
afterAll(async () => {
  await service?.stop();
  await hibp?.close();
});

test("a scan before the HIBP key is stored fails, one after it finds", async () => {
  const { domainId, api } = organization;
  const Parameter = (await readLocalStack(service.apiUrl)).outputs.HibpApiKeyParameter;
  await new SSMClient({}).send(new DeleteParameterCommand({ Name: Parameter }));
  expect((await api.post("/emails", { email: "ada@demo.example", domainId })).status).toBe(201);
  expect(await scan(api)).toMatchObject({ status: "failed", errorMessage: expect.stringMatching(/key/) });
  const put = { Name: Parameter, Type: "SecureString", Value: "0".repeat(32) } as const;
  await new SSMClient({}).send(new PutParameterCommand(put));
  expect(await scan(api)).toMatchObject({ status: "completed" });
  expect((await api.get("/breaches")).body).toMatchObject({ total: 2 });
});

test("an answer of 20 MB about a domain is compared with its monitored addresses", async () => {
  const { domainId, api } = await createOrganization({}, { domain: large, apiUrl: service.apiUrl });
  for (const alias of ["user7", "user4999", "clean"]) {
    expect((await api.post("/emails", { email: `${alias}@${large}`, domainId })).status).toBe(201);
  }
  const names = ["Alpha", "Beta", ...Array(600).fill("Alpha")];
  for (let index = 0; index < 5_000; index++) hibp.accounts[`user${index}@${large}`] = names;
  expect(await scan(api)).toMatchObject({ status: "completed", scannedEmails: 3, newBreachesFound: 4 });
  const asked = hibp.requests.map(({ path }) => path).filter((path) => path.includes(large));
  expect(asked).toEqual([`breacheddomain/${large}`]);
});

describe("behind a trusted proxy", () => {
  /** A client with its own address and the organization's key. */
  const client = (path = "/api/v1"): Client =>
    createClient({ authorization: `Bearer ${organization.key}` }, new URL(path, service.apiUrl).href);

  /** Asks as a proxy does. `given`: the values of its header with the secret. */
  const statusFor = async (
    from: Client,
    viewer: string,
    { given = [secret], path = "/emails" }: { given?: string[]; path?: string } = {},
  ): Promise<number> => {
    const headers = { "X-Proxy-Secret": given, "CloudFront-Viewer-Address": `${viewer}:46532` };
    return (await from.request("GET", path, { headers })).status;
  };

  const useUp = (subject: string) => presetCount(subject, perMinute.address, 60);

  test("that knows the secret, each viewer has its own limit", async () => {
    const proxy = client();
    await useUp(subjects.address("203.0.113.1"));
    expect(await statusFor(proxy, "203.0.113.1")).toBe(429);
    expect(await statusFor(proxy, "203.0.113.2")).toBe(200);
    // Nobody else is believed. test/access/api/source-address.test.ts has the forms of header and secret.
    expect(await statusFor(client(), "203.0.113.1", { given: [wrongSecret] })).toBe(200);
    // The proxy's own address is not counted against.
    await useUp(subjects.address(proxy.address));
    expect(await statusFor(proxy, "203.0.113.2")).toBe(200);
  });

  test("dashboard requests of anyone are limited by viewer", async () => {
    const proxy = client("/api/dashboard");
    await useUp("DASHBOARD#203.0.113.6");
    expect(await statusFor(proxy, "203.0.113.6", { path: "/sign-in" })).toBe(429);
    expect(await statusFor(proxy, "203.0.113.7", { path: "/sign-in" })).toBe(200);
    await useUp(`DASHBOARD#${proxy.address}`);
    expect(await statusFor(proxy, "203.0.113.7", { path: "/sign-in", given: [wrongSecret] })).toBe(429);
  });

  test("no log holds the secret", async () => {
    const seen = (await readLogs(service.apiUrl)) + service.output();
    expect(seen).toContain("/v1/emails");
    expect([secret, wrongSecret].filter((each) => seen.includes(each))).toEqual([]);
  });
});

describe("without a sender of e-mail", () => {
  useBrowser();

  test("the sign-in page points to the operator instead", async () => {
    const visitor = createClient({}, new URL("/api/dashboard", service.apiUrl).href);
    expect(await visitor.get("/sign-in")).toMatchObject({ status: 200, body: { mail: false } });
    const asked = await visitor.post("/sign-in/links", { email: "somebody@demo.example" });
    expect(asked).toMatchObject({ status: 202, body: { success: true } });
    const { page } = await visit([], service.apiUrl);
    await page.goto(urlOf("/sign-in", service.apiUrl));
    await page.getByText("This service cannot send e-mail. Ask its operator for a sign-in link").waitFor();
    expect(await page.getByRole("button", { name: "Send sign-in link" }).count()).toBe(0);
  });

  test("an invited member gets no mail, as the page says", async () => {
    const { apiUrl } = service;
    const { id: org } = await createOrganization({}, { apiUrl });
    const { page } = await signIn(await createUser(org, { apiUrl }));
    await page.goto(urlOf("/settings/members", apiUrl));
    await page.getByRole("button", { name: "Invite" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("E-mail address").fill("grace@demo.example");
    const replied = page.waitForResponse((response) => response.request().method() === "POST");
    await dialog.getByRole("button", { name: "Invite" }).click();
    const reply = await replied;
    expect(reply.status()).toBe(201);
    expect(await reply.json()).toMatchObject({ email: "grace@demo.example", invitationSent: false });
    await page.getByText("No e-mail can be sent: ask the operator for a sign-in link.").waitFor();
    await page.getByRole("rowheader", { name: "grace@demo.example" }).waitFor();
  });
});
