import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DeleteParameterCommand,
  GetParameterCommand,
  PutParameterCommand,
  SSMClient,
} from "@aws-sdk/client-ssm";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LoopbackServer } from "../../../local/loopback.ts";
import { startParameters } from "../../../local/parameters/parameters.ts";
import { clientOf } from "../template.ts";

const assembly = { region: "us-east-1", accountId: "000000000000" };
const Name = "/test/key";
const secure = { Name, Type: "SecureString" } as const;

let directory: string;
let parameters: LoopbackServer;
let client: SSMClient;

const start = async (given: Record<string, string> = {}) => {
  parameters = await startParameters({ assembly, directory, given });
  client = new SSMClient(clientOf(parameters.url));
};
const stop = async () => {
  client.destroy();
  await parameters.close();
};
const get = () => client.send(new GetParameterCommand({ Name, WithDecryption: true }));

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "parameters-test-"));
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(directory, { recursive: true });
});

test("what could not be written is written with the next value, for its owner alone", async () => {
  const blocking = join(directory, "parameters.json.new");
  mkdirSync(blocking);
  await expect(client.send(new PutParameterCommand({ ...secure, Value: "kept" }))).rejects.toThrow();
  rmSync(blocking, { recursive: true });
  await client.send(new PutParameterCommand({ ...secure, Name: "/test/other", Value: "other" }));
  await stop();
  await start();
  expect((await get()).Parameter?.Value).toBe("kept");
  expect(statSync(join(directory, "parameters.json")).mode & 0o777).toBe(0o600);
});

test("of many who make one parameter at the same time, one wins", async () => {
  await expect(get()).rejects.toMatchObject({ name: "ParameterNotFound" });
  const values = ["a", "b", "c", "d"];
  const made = await Promise.allSettled(
    values.map((Value) => client.send(new PutParameterCommand({ ...secure, Value, Overwrite: false }))),
  );
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const refused = made.filter((each) => each.status === "rejected").map(({ reason }) => reason.name);
  expect(new Set(refused)).toEqual(new Set(["ParameterAlreadyExists"]));
  const winner = values[made.findIndex(({ status }) => status === "fulfilled")];
  const { Parameter } = await get();
  expect(Parameter).toMatchObject({ Name, Type: "SecureString", Value: winner, Version: 1 });
  expect(Parameter?.ARN).toBe("arn:aws:ssm:us-east-1:000000000000:parameter/test/key");
});

test("a parameter that a run is given takes the place of what is kept, and is not kept", async () => {
  await client.send(new PutParameterCommand({ ...secure, Value: "kept" }));
  await stop();
  await start({ [Name]: "given" });
  expect((await get()).Parameter).toMatchObject({ Type: "SecureString", Value: "given" });
  await client.send(new PutParameterCommand({ ...secure, Name: "/test/other", Value: "kept" }));
  await stop();
  await start();
  await expect(get()).rejects.toMatchObject({ name: "ParameterNotFound" });
});

test("an overwritten parameter has the next version, and a deleted one is gone", async () => {
  for (const Value of ["a", "b"])
    await client.send(new PutParameterCommand({ ...secure, Value, Overwrite: true }));
  expect((await get()).Parameter).toMatchObject({ Value: "b", Version: 2 });
  await client.send(new DeleteParameterCommand({ Name }));
  await expect(get()).rejects.toMatchObject({ name: "ParameterNotFound" });
});
