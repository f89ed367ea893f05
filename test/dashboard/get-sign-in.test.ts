import { expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { visitor } from "./signed-in.ts";

test("200 tells that links can be mailed, whatever credential comes with the request", async () => {
  const { key } = await createOrganization();
  for (const headers of [
    {},
    { authorization: `Bearer ${key}` },
    { authorization: "Bearer nonsense" },
    { cookie: "session=nonsense" },
    { origin: "https://attacker.example" },
  ]) {
    const reply = await visitor(headers as Record<string, string>).get("/sign-in");
    expect(reply).toMatchObject({ status: 200, body: { mail: true } });
  }
});
