import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { createDemo } from "../../local/demo.ts";
import { admin, createClient } from "./client.ts";

const directory = await mkdtemp(join(tmpdir(), "demo-"));
const file = join(directory, "demo.json");

const demo = () =>
  createDemo({
    directory,
    port: Number(new URL(inject("apiUrl")).port),
    signal: new AbortController().signal,
  });

const isLetIn = async ({ key }: { key: string }): Promise<boolean> =>
  (await createClient({ authorization: `Bearer ${key}` }).get("/emails")).status === 200;

test("the demo is made once, and again as far as it is no longer there", async () => {
  const first = await demo();
  expect(await isLetIn(first)).toBe(true);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(first);
  expect(await demo()).toEqual(first);

  await admin("key revoke", { org: first.organizationId, key: first.keyId });
  const second = await demo();
  expect(second).toEqual({ ...first, keyId: second.keyId, key: second.key });
  expect(await isLetIn(second)).toBe(true);

  await admin("org delete", { org: first.organizationId, name: "Demo" });
  const third = await demo();
  expect(third.organizationId).not.toBe(first.organizationId);
  expect(await isLetIn(third)).toBe(true);
});

test("an organization that is somebody's own is not taken for the demo", async () => {
  const { id: org } = await admin("org create", { name: "Acme", "scan-every": "never" });
  const { id: keyId, key } = await admin("key create", { org, label: "Demo" });
  await writeFile(file, JSON.stringify({ organizationId: org, domainId: 1, keyId, key }));
  expect((await demo()).organizationId).not.toBe(org);
});
