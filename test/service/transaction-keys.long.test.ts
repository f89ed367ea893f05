/**
 * The service with the keys of a transaction as IAM may see them on AWS, which does not document it. All
 * other tests run with the reading that refuses most. In it, each write is judged by the keys of its whole
 * transaction.
 */
import { expect, test } from "vitest";
import { synthesizeWith } from "./assembly.ts";
import { eventually } from "./eventually.ts";
import { createOrganization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";

const email = "ada@demo.example";

test.each([
  ["own", "all guards", () => startOwnService(["--memory", "--transaction-keys", "own"])],
  [
    "none",
    "-c keyGuards=false",
    () =>
      startOwnService(["--memory", "--transaction-keys", "none"], {}, synthesizeWith({ keyGuards: "false" })),
  ],
])("IAM sees %s keys, %s: e-mails are added, scanned and found", async (_keys, _guards, start) => {
  const service = await start();
  try {
    const { api, domainId } = await createOrganization({}, { apiUrl: service.apiUrl });
    const added = await api.post("/emails", { email, domainId });
    expect(added.status).toBe(201);
    const id = added.body.id as number;
    for (const isActive of [false, true]) {
      expect((await api.patch(`/emails/${id}`, { isActive })).status).toBe(200);
    }
    const channel = { channel: "email", config: { recipients: [email] } };
    expect((await api.post("/alert-configs", channel)).status).toBe(201);
    expect((await api.post("/scans")).status).toBe(201);
    const latest = async () => (await api.list("/scans"))[0];
    await eventually(latest, (scan) => scan?.status === "completed", 200);
    const [finding] = await api.list("/breaches");
    expect((await api.post("/breaches/acknowledge", { id: finding?.id })).status).toBe(200);
  } finally {
    await service.stop();
  }
});

test("IAM sees none keys, all guards: a transaction is refused, and writes nothing", async () => {
  const guarded = synthesizeWith({ keyGuards: "true" });
  const service = await startOwnService(["--memory", "--transaction-keys", "none"], {}, guarded);
  try {
    const { api, domainId } = await createOrganization({}, { apiUrl: service.apiUrl });
    expect((await api.post("/emails", { email, domainId })).status).toBe(500);
    expect((await api.get("/emails")).body).toMatchObject({ total: 0 });
    expect(service.output()).toMatch(/AccessDeniedException: .*not authorized to perform: dynamodb:/);
  } finally {
    await service.stop();
  }
});
