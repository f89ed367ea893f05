/**
 * Clients of before severities get the bytes of before: the recordings were made by the last code without them. Values of ids
 * and times are left out.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";

const recorded = readFileSync(join(import.meta.dirname, "../cases/recorded-replies.txt"), "utf8");

/** The replies to calls without `include`, `severity` and `order`, and to those that change what they list. */
const replies = async (): Promise<string> => {
  const { api, domainId, key } = await createOrganization();
  const lines: string[] = [];
  const withoutValues = (text: string): string =>
    text
      .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"(time)"')
      .replace(/("(?:id|[A-Za-z]+Id)":)\d+/g, '$1"(id)"');
  /** `shown`: the path with names instead of ids. */
  const call = async (method: string, path: string, body?: object, shown = path) => {
    const reply = await fetch(`${inject("apiUrl")}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    lines.push(`${method} ${shown}`, `${reply.status} ${withoutValues(text)}`, "");
    return JSON.parse(text);
  };
  await call("POST", "/emails", { email: "ada@demo.example", domainId, ownerName: "Ada" });
  const { id: first } = await scan(api);
  await call("POST", "/emails", { email: "grace@demo.example", domainId });
  await scan(api);
  const { breaches } = await call("GET", "/breaches");
  const newest = breaches[0].id;
  await call("POST", "/breaches/acknowledge", { id: newest, resolution: "ignored", reason: "Known\nto us" });
  await call("GET", "/breaches?acknowledged=true");
  await call("GET", "/breaches?acknowledged=false&limit=2&offset=1");
  await call("GET", `/breaches?scanId=${first}`, undefined, "/breaches?scanId=FIRST");
  await call(
    "GET",
    `/breaches?scanId=${first}&acknowledged=true`,
    undefined,
    "/breaches?scanId=FIRST&acknowledged=true",
  );
  await call("GET", "/emails");
  await call("GET", "/scans");
  const filter = { acknowledged: false, scanId: first };
  await call("POST", "/breaches/acknowledgements", { filter, resolution: "handled", dryRun: true });
  const { id } = await call("POST", "/breaches/acknowledgements", { filter, resolution: "handled" });
  const path = `/breaches/acknowledgements/${id}`;
  await eventually(
    async () => (await api.get(path)).body.status,
    (status) => status === "completed",
  );
  await call("GET", path, undefined, "/breaches/acknowledgements/ID");
  await call("GET", "/breaches");
  await call("GET", "/breaches?acknowledged=maybe");
  return lines.join("\n");
};

test("replies to calls that ask for nothing new are byte for byte what they were", async () => {
  expect(await replies()).toBe(recorded);
});
