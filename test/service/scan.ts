import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";

/** Starts a scan and waits for its end, at most `seconds`; gives the scan as the list shows it. */
export const scan = async (api: Client, seconds?: number): Promise<Record<string, unknown>> => {
  const started = await api.post("/scans");
  if (started.status !== 201) throw new Error(`The scan did not start: ${JSON.stringify(started.body)}`);
  const find = async () => {
    const { status, body } = await api.get("/scans?limit=5");
    if (status !== 200) throw new Error(`The scans are not listed: ${status} ${JSON.stringify(body)}`);
    return (body.scans as Record<string, unknown>[]).find((each) => each.id === started.body.scanJobId);
  };
  const isOver = (each: Record<string, unknown> | undefined): boolean =>
    each?.status === "completed" || each?.status === "failed";
  // Few scans end sooner, and each question takes processor time.
  await pause(500);
  const ended = await eventually(find, isOver, seconds);
  return ended as Record<string, unknown>;
};

/** Every finding as "address breach". */
export const listFindings = async (api: Client): Promise<string[]> => {
  const all: string[] = [];
  for (;;) {
    const { body } = await api.get(`/breaches?limit=100&offset=${all.length}`);
    const page = body.breaches as { email: string; breach: { name: string } }[];
    all.push(...page.map(({ email, breach }) => `${email} ${breach.name}`));
    if (page.length < 100) {
      expect(body.total).toBe(all.length);
      return all;
    }
  }
};
