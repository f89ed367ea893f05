/** Watches an address with a client that openapi-typescript has generated, scans, and prints what was found. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const { API_URL, API_KEY, DOMAIN_ID, EMAIL = "" } = process.env;
const api = createClient<paths>({ baseUrl: API_URL, headers: { Authorization: `Bearer ${API_KEY}` } });

/** The sentence of an error. A body of more than 10 MiB is refused by API Gateway, in plain text. */
const sentence = (error: string | { error: string }) => (typeof error === "string" ? error : error.error);

const add = () =>
  api.POST("/emails", {
    params: { header: { "Idempotency-Key": randomUUID() } },
    body: { email: EMAIL, domainId: Number(DOMAIN_ID) },
  });
const added = await add();
if (added.data === undefined) throw new Error(sentence(added.error));

const again = await add();
if (again.error !== undefined) console.log(again.response.status, sentence(again.error));

const started = await api.POST("/scans");
if (started.data === undefined) throw new Error(sentence(started.error));
const { scanJobId } = started.data;
let status: string | undefined;
while (status !== "completed" && status !== "failed") {
  await setTimeout(200);
  const { data } = await api.GET("/scans");
  status = data?.scans.find(({ id }) => id === scanJobId)?.status;
}

const { data } = await api.GET("/breaches", {
  params: { query: { scanId: scanJobId, order: "severity", include: "details" } },
});
console.log(status, data?.total);
for (const { email, breach } of data?.breaches ?? []) console.log(email, breach.name);
