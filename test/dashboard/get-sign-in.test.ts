import { describe, expect, test } from "vitest";
import { expectEveryHeader } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { visitor } from "./signed-in.ts";

describe("200", () => {
  test("tells that links can be mailed where a sender is set up", async () => {
    const reply = await visitor().get("/sign-in");
    expect(reply).toMatchObject({ status: 200, body: { mail: true } });
    expectEveryHeader(reply);
  });

  test("whatever credential comes with the request", async () => {
    const { key } = await createOrganization();
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { authorization: "Bearer nonsense" },
      { cookie: "session=nonsense" },
      { origin: "https://attacker.example" },
    ]) {
      expect((await visitor(headers as Record<string, string>).get("/sign-in")).status).toBe(200);
    }
  });
});
