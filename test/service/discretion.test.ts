/** What a sensitive breach is called, and whom it names, is in no log of the service, however its receivers and HIBP answer. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startHibpServer } from "../../local/harness/hibp-server.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { startReceiver } from "../../local/harness/receiver.ts";
import { defaults } from "../alerting/channels.ts";
import { admin } from "./admin.ts";
import { createChannel } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { createOrganization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { scan } from "./scan.ts";

const secret = { ...inventedBreach("HiddenClinic", "Hidden Clinic of Ys"), IsSensitive: true };
const people = ["ada.lovelace@covered.example", "grace.hopper@covered.example"];
const refused = "mary.somerville@single.example";

test("no log names a sensitive breach or an address, whatever fails", async () => {
  const hibp = await startHibpServer();
  onTestFinished(hibp.close);
  hibp.covered = ["covered.example"];
  // HIBP's latest breach.
  hibp.catalog = [...hibp.catalog, secret];
  hibp.accounts = Object.fromEntries(people.map((address) => [address, ["HiddenClinic", "Alpha"]]));
  hibp.fail = (path) => (path.startsWith("breachedaccount/") ? { status: 400, body: refused } : undefined);
  // It answers with what it was told.
  const receiver = await startReceiver({
    respond: (_, response) => response.writeHead(500).end(receiver.requests.at(-1)?.body),
  });
  onTestFinished(receiver.close);
  const service = await startOwnService([
    "--memory",
    "--hibp-url",
    hibp.url,
    "--allow-origin",
    receiver.origin,
  ]);
  onTestFinished(service.stop);
  const { apiUrl } = service;
  const { api, id: org, domainId } = await createOrganization({}, { domain: "covered.example", apiUrl });
  const other = await admin("domain add", { org, name: "single.example", verified: true }, apiUrl);
  for (const email of people) expect((await api.post("/emails", { email, domainId })).status).toBe(201);
  expect((await api.post("/emails", { email: refused, domainId: other.id })).status).toBe(201);
  const config = { recipients: ["security.team@acme.example"] };
  const emailId = await createChannel(api, { channel: "email", config });
  const options = { ...defaults, sensitive: "named", tellOwners: true };
  expect((await api.put(`/alert-configs/${emailId}/options`, options)).status).toBe(200);
  const named = ["slack", "webhook"].map((name) => `${receiver.origin}/${name}`);
  const slackId = await createChannel(api, { channel: "slack", config: { webhookUrl: named[0] } });
  await api.put(`/alert-configs/${slackId}/options`, { ...defaults, sensitive: "named" });
  await createChannel(api, { channel: "webhook", config: { url: named[1] } });
  expect(await scan(api)).toMatchObject({ status: "completed", scannedEmails: 2, totalEmails: 3 });

  const { dataDirectory } = await readLocalStack(apiUrl);
  const textsIn = async (name: string): Promise<string[]> => {
    const directory = join(dataDirectory, name);
    return Promise.all((await readdir(directory)).map((file) => readFile(join(directory, file), "utf8")));
  };
  // Three attempts each, and mails to the channel and to the owners.
  await eventually(
    async () => receiver.requests,
    (all) => all.length >= 2 * people.length * 3,
  );
  const mails = await eventually(
    () => textsIn("outbox"),
    (all) => all.length >= 2 * people.length,
  );
  const bodies = receiver.requests.map(({ body }) => body.toString("utf8"));
  for (const name of [secret.Title, ...people]) {
    for (const texts of [mails, bodies]) expect(texts.some((text) => text.includes(name))).toBe(true);
  }
  const logs = (await textsIn("logs")).join("\n").split("\n");
  for (const line of ["catalog synced", "scan ended", "delivery", "request"])
    expect(logs.some((each) => each.includes(`"message":"${line}"`))).toBe(true);
  const names = [secret.Name, secret.Title, secret.Domain, ...people, refused, ...config.recipients];
  const parts = names.map((name) => name.split("@", 1)[0]?.toLowerCase() ?? "");
  expect(logs.filter((line) => parts.some((part) => line.toLowerCase().includes(part)))).toEqual([]);
});
