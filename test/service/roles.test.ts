/** Attacks with the role of a function that does what an attacker wants. */
import {
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { hashOf, mintApiKey } from "../../shared/access/keys/secret.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { createClient } from "./client.ts";
import { readLocalStack } from "./local-stack.ts";
import { createOrganization, type Organization } from "./organization.ts";

let victim: Organization;
let tableName: string;
let as: (name: string) => DynamoDBClient;

beforeAll(async () => {
  victim = await createOrganization();
  const { outputs } = await readLocalStack(inject("apiUrl"));
  tableName = outputs.TableName ?? "";
  const scheduled = (outputs.ScheduledScanFunctionArn ?? "").replace(/^.*:/, "");
  as = (name) =>
    new DynamoDBClient({
      credentials: {
        accessKeyId: scheduled.replace("start-scheduled-scan", name),
        secretAccessKey: "local",
      },
      maxAttempts: 1,
    });
});

const denied = { name: "AccessDeniedException" };
const put = (row: Key & object) => ({ TableName: tableName, Item: marshall(row) });
const update = (key: Key, name: string, value: string) => ({
  TableName: tableName,
  Key: marshall(key),
  UpdateExpression: "SET #name = :value",
  ExpressionAttributeNames: { "#name": name },
  ExpressionAttributeValues: marshall({ ":value": value }),
});

describe("the role of acknowledge-breach", () => {
  test("makes no key of another organization, alone or in a transaction of its own rows", async () => {
    const key = mintApiKey(victim.id);
    const row = {
      ...keys.apiKey(victim.id, hashOf(key)),
      id: 1,
      label: "x",
      createdAt: "x",
      revokedAt: null,
    };
    const client = as("acknowledge-breach");
    await expect(client.send(new PutItemCommand(put(row)))).rejects.toMatchObject(denied);
    const finding = { ...keys.member(victim.id, "FINDING", 7_777, 1), note: "allowed by itself" };
    const both = new TransactWriteItemsCommand({ TransactItems: [{ Put: put(finding) }, { Put: put(row) }] });
    await expect(client.send(both)).rejects.toMatchObject(denied);
    expect((await createClient({ authorization: `Bearer ${key}` }).get("/emails")).status).toBe(401);
    expect(await table.get(finding)).toBeUndefined();
  });

  test("changes no channel, domain, user or billing", async () => {
    const client = as("acknowledge-breach");
    const before = await table.get(keys.organization(victim.id));
    for (const [key, name] of [
      [keys.channel(victim.id, 1), "config"],
      [keys.domain(victim.id, victim.domainId), "verified"],
      [keys.domainRemoval(victim.id, victim.domainId), "wasVerified"],
      [keys.user(victim.id, 1), "role"],
      [keys.organization(victim.id), "name"],
      [keys.organization(victim.id), "billing"],
    ] as const) {
      await expect(client.send(new UpdateItemCommand(update(key, name, "x")))).rejects.toMatchObject(denied);
    }
    expect(await table.get(keys.organization(victim.id))).toEqual(before);
  });

  test("neither renames nor deletes an organization", async () => {
    const client = as("acknowledge-breach");
    const key = keys.organization(victim.id);
    const remove = new DeleteItemCommand({ TableName: tableName, Key: marshall(key) });
    await expect(client.send(remove)).rejects.toMatchObject(denied);
    await expect(client.send(new UpdateItemCommand(update(key, "name", "x")))).rejects.toMatchObject(denied);
    expect((await victim.api.get("/emails")).status).toBe(200);
  });
});

describe("the role of the authorizer", () => {
  test("notes a use, and neither makes a key nor revives one", async () => {
    const client = as("authorize");
    const key = keys.apiKey(victim.id, hashOf(victim.key));
    await client.send(new UpdateItemCommand(update(key, "lastUsedAt", new Date().toISOString())));
    for (const name of ["revokedAt", "id", "label", "userId"]) {
      await expect(client.send(new UpdateItemCommand(update(key, name, "x")))).rejects.toMatchObject(denied);
    }
    // What it may write does not make a key.
    const made = mintApiKey(victim.id);
    const at = new Date().toISOString();
    await client.send(new UpdateItemCommand(update(keys.apiKey(victim.id, hashOf(made)), "lastUsedAt", at)));
    expect((await createClient({ authorization: `Bearer ${made}` }).get("/emails")).status).toBe(401);
    expect((await victim.api.get("/emails")).status).toBe(200);
  });
});
