import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { createDemo, createSignInLink, type Demo } from "../../local/demo.ts";
import { browserWith, visitor } from "../dashboard/signed-in.ts";
import { admin } from "./admin.ts";
import { createClient } from "./client.ts";

const directory = await mkdtemp(join(tmpdir(), "demo-"));
const file = join(directory, "demo.json");

const startDemo = () =>
  createDemo({
    directory,
    port: Number(new URL(inject("apiUrl")).port),
    brokenUrl: `${inject("receiverUrl")}/demo?status=503`,
    signal: new AbortController().signal,
  });

const isAccepted = async ({ key }: { key: string }): Promise<boolean> =>
  (await createClient({ authorization: `Bearer ${key}` }).get("/emails")).status === 200;

let stranger: number;
let demo: Demo;
beforeAll(async () => {
  // The file of another table, in which these ids were the demo's.
  const { id: org } = await admin("org create", { name: "Acme", "scan-every": "never" });
  const { key } = await admin("key create", { org, label: "Demo" });
  await writeFile(file, JSON.stringify({ organizationId: org, domainId: 1, key }));
  stranger = org;
  demo = await startDemo();
});

test("an organization that is not the demo's is not taken for it", async () => {
  expect(demo.organizationId).not.toBe(stranger);
  expect(await isAccepted(demo)).toBe(true);
});

test("a browser signs in with the link and finds invented findings of two scans", async () => {
  const port = Number(new URL(inject("apiUrl")).port);
  const url = new URL(await createSignInLink(demo, { port, signal: new AbortController().signal }));
  const reply = await visitor().post("/sign-in/sessions", { token: url.hash.slice(1) });
  expect(reply).toMatchObject({ status: 201, body: { user: { id: demo.userId, role: "admin" } } });
  const { v1 } = browserWith(String(reply.headers["set-cookie"]).split(";")[0] ?? "");
  expect((await v1.get("/emails")).body).toMatchObject({ total: 40 });
  expect((await v1.get("/emails?left=true")).body).toMatchObject({ total: 2 });
  expect((await v1.get("/scans?status=completed")).body).toMatchObject({ total: 2 });
  const { breaches, total, unacknowledged } = (await v1.get("/breaches")).body as {
    breaches: { breach: { title: string } }[];
    total: number;
    unacknowledged: number;
  };
  expect(total).toBeGreaterThan(10);
  expect(unacknowledged).toBe(total - 2);
  for (const { breach } of breaches) expect(breach.title).toContain("(invented)");
});

test("the demo is created once", async () => {
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(demo);
  expect(await startDemo()).toEqual(demo);
});
