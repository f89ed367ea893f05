import { expect } from "vitest";
import type { Client } from "../service/client.ts";

/** Adds an e-mail and gives its id. */
export const addEmail = async (
  api: Client,
  domainId: number,
  email = "ada@demo.example",
): Promise<number> => {
  const added = await api.post("/emails", { email, domainId });
  expect(added).toMatchObject({ status: 201 });
  return added.body.id as number;
};

/** Addresses of demo.example that no breach contains. */
export const numberedAddresses = (count: number, name = "person"): string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index}@demo.example`);
