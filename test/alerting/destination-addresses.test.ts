import { describe, expect, test } from "vitest";
import { parseDestination, resolveDestination } from "../../shared/alerting/kinds/destination.ts";
import type { Answer, RecordType } from "./name-server.ts";
import { resolveNames } from "./outbound/set-up.ts";

describe("resolveDestination", () => {
  async function resolveWith(answer: (query: { name: string; type: RecordType }) => Answer, seconds = 60) {
    const { queries } = await resolveNames(answer);
    const parsed = parseDestination("https://hooks.acme.io/");
    if (!parsed.ok) throw new Error(parsed.reason);
    const result = await resolveDestination(parsed, { signal: AbortSignal.timeout(seconds * 1000) });
    return { result, queries };
  }

  test("returns the addresses of one A and one AAAA query, IPv4 first", async () => {
    const { result, queries } = await resolveWith(({ type }) =>
      type === "A" ? ["1.1.1.1", "8.8.8.8"] : ["2606:4700::1111"],
    );
    expect(result).toMatchObject({ ok: true });
    expect(result.ok && result.addresses.map(({ family }) => family)).toEqual([4, 4, 6]);
    expect(result.ok && result.addresses.map(({ address }) => address).sort()).toEqual([
      "1.1.1.1",
      "2606:4700::1111",
      "8.8.8.8",
    ]);
    expect(queries.map(({ type }) => type).sort()).toEqual(["A", "AAAA"]);
  });

  test.each([
    [["1.1.1.1", "10.0.0.1"], []],
    [["1.1.1.1"], ["fd00::1"]],
    [["1.1.1.1"], ["::ffff:7f00:1"]],
    [["127.0.0.1"], []],
    [["169.254.169.254"], ["2606:4700::1111"]],
    [[], ["64:ff9b::808:808"]],
  ])("refuses a name when any of its addresses is not public: %j %j", async (a, aaaa) => {
    const { result } = await resolveWith(({ type }) => (type === "A" ? a : aaaa));
    expect(result).toEqual({ ok: false, reason: "destination is not public" });
  });

  test("returns the IPv6 addresses when the query for IPv4 fails", async () => {
    const { result } = await resolveWith(({ type }) => (type === "A" ? "no such name" : ["2606:4700::1111"]));
    expect(result).toEqual({ ok: true, addresses: [{ address: "2606:4700::1111", family: 6 }] });
  });
});
