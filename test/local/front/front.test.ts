import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { CreateScheduleCommand, GetScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { SESv2Client, SendEmailCommand, type SendEmailCommandInput } from "@aws-sdk/client-sesv2";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callerHeader, type Front, startFront } from "../../../local/front/front.ts";
import { secretAccessKey, sessionToken } from "../../../local/iam/iam.ts";
import type { Assembly } from "../../../local/template/assembly.ts";
import { openTemplate } from "../template.ts";

const resources = {
  Table: {
    Type: "AWS::DynamoDB::Table",
    Properties: {
      KeySchema: [
        { AttributeName: "sk", KeyType: "RANGE" },
        { AttributeName: "pk", KeyType: "HASH" },
      ],
    },
  },
  Queue: { Type: "AWS::SQS::Queue", Properties: {} },
  Other: { Type: "AWS::SQS::Queue", Properties: {} },
  ScheduleRole: { Type: "AWS::IAM::Role", Properties: {} },
  Function: { Type: "AWS::Lambda::Function", Properties: { Role: { "Fn::GetAtt": ["Role", "Arn"] } } },
  Role: {
    Type: "AWS::IAM::Role",
    Properties: {
      Policies: [
        {
          PolicyDocument: {
            Statement: [
              {
                Effect: "Allow",
                Action: ["dynamodb:PutItem", "dynamodb:UpdateItem"],
                Resource: { "Fn::GetAtt": ["Table", "Arn"] },
              },
              {
                Effect: "Allow",
                Action: "dynamodb:Query",
                Resource: { "Fn::Join": ["/", [{ "Fn::GetAtt": ["Table", "Arn"] }, "index", "due"]] },
              },
              {
                Effect: "Allow",
                Action: "dynamodb:DeleteItem",
                Resource: { "Fn::GetAtt": ["Table", "Arn"] },
                Condition: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": "LIMIT#*" } },
              },
              { Effect: "Allow", Action: "sqs:Send*", Resource: "*" },
              { Effect: "Deny", Action: "sqs:*", Resource: { "Fn::GetAtt": ["Other", "Arn"] } },
              {
                Effect: "Allow",
                Action: "scheduler:*Schedule",
                Resource: "arn:aws:scheduler:*:*:schedule/mine/*",
              },
              {
                Effect: "Allow",
                Action: "iam:PassRole",
                Resource: { "Fn::GetAtt": ["ScheduleRole", "Arn"] },
                Condition: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
              },
              { Effect: "Allow", Action: "ses:SendEmail", Resource: "arn:aws:ses:*:*:identity/example.org" },
            ],
          },
        },
      ],
    },
  },
};

/** The requests that `upstream` got. It stands for every service and answers with an empty object. */
const asked: { request: IncomingMessage; body: string }[] = [];
let upstream: Server;
let front: Front;
let assembly: Assembly;

beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    asked.push({ request, body });
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  assembly = openTemplate(resources);
  front = await startFront({
    assembly,
    upstreams: { dynamodb: url, sqs: url, scheduler: url, ses: url, ssm: url },
  });
  assembly.setQueueBaseUrl(`${front.url}/000000000000`);
});

afterAll(async () => {
  await front.close();
  upstream.close();
});

const settings = (accessKeyId = assembly.physicalId("Function")) => ({
  region: "us-east-1",
  endpoint: front.url,
  credentials: { accessKeyId, secretAccessKey, sessionToken },
  maxAttempts: 1,
});

describe("DynamoDB", () => {
  const item = { pk: { S: "1" } };
  const put = () => new PutItemCommand({ TableName: assembly.physicalId("Table"), Item: item });

  test("a request that the role allows reaches the engine unchanged", async () => {
    await new DynamoDBClient(settings()).send(put());
    expect(JSON.parse(asked.at(-1)?.body ?? "")).toEqual({ TableName: "test-Table", Item: item });
    expect(asked.at(-1)?.request.headers).toMatchObject({
      "x-amz-target": "DynamoDB_20120810.PutItem",
      [callerHeader]: assembly.physicalId("Function"),
    });
  });

  test("a request that the role does not allow is refused in AWS's words", async () => {
    const before = asked.length;
    const query = new QueryCommand({ TableName: "test-Table", KeyConditionExpression: "pk = a" });
    await expect(new DynamoDBClient(settings()).send(query)).rejects.toMatchObject({
      name: "AccessDeniedException",
      message:
        "User: arn:aws:sts::000000000000:assumed-role/test-Role/test-Function is not authorized " +
        "to perform: dynamodb:Query on resource: " +
        "arn:aws:dynamodb:us-east-1:000000000000:table/test-Table because no identity-based " +
        "policy allows the dynamodb:Query action",
    });
    expect(asked).toHaveLength(before);
  });

  test("an index needs a permission of its own", async () => {
    const query = new QueryCommand({
      TableName: "test-Table",
      IndexName: "due",
      KeyConditionExpression: "pk = a",
    });
    await new DynamoDBClient(settings()).send(query);
    await expect(
      new DynamoDBClient(settings()).send(new QueryCommand({ ...query.input, IndexName: "other" })),
    ).rejects.toThrow("table/test-Table/index/other");
  });

  test("a transaction needs the permissions of all its entries", async () => {
    const client = new DynamoDBClient(settings());
    const Put = { TableName: "test-Table", Item: item };
    const Delete = { TableName: "test-Table", Key: item };
    await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }] }));
    await expect(
      client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }, { Delete }] })),
    ).rejects.toThrow("dynamodb:DeleteItem");
  });

  test("a condition on leading keys holds for every row, also in a transaction", async () => {
    const client = new DynamoDBClient(settings());
    const remove = (pk: string) => ({
      TableName: "test-Table",
      Key: { sk: { S: "LIMIT#1" }, pk: { S: pk } },
    });
    await client.send(new DeleteItemCommand(remove("LIMIT#1")));
    await expect(client.send(new DeleteItemCommand(remove("ORG#1")))).rejects.toThrow("dynamodb:DeleteItem");
    const transact = (...pks: string[]) =>
      client.send(
        new TransactWriteItemsCommand({ TransactItems: pks.map((pk) => ({ Delete: remove(pk) })) }),
      );
    await transact("LIMIT#1", "LIMIT#2");
    await expect(transact("LIMIT#1", "ORG#1")).rejects.toThrow("dynamodb:DeleteItem");
  });

  test("the administrator may do everything, and an unknown caller nothing", async () => {
    const scan = new QueryCommand({ TableName: "test-Table", KeyConditionExpression: "pk = a" });
    await new DynamoDBClient(settings("local-admin")).send(scan);
    await expect(new DynamoDBClient(settings("somebody")).send(put())).rejects.toMatchObject({
      name: "UnrecognizedClientException",
    });
  });
});

describe("a signature", () => {
  const put = new PutItemCommand({ TableName: "test-Table", Item: { pk: { S: "1" }, amount: { N: "10" } } });
  type Sent = { headers: Record<string, string>; body: Uint8Array };
  /** Sends the request with changes that were made after it was signed. */
  const sendChanged = (change: (sent: Sent) => Partial<Sent>, given: object = {}) => {
    const client = new DynamoDBClient({ ...settings(), ...given });
    client.middlewareStack.add(
      (next) => (args) => {
        Object.assign(args.request as Sent, change(args.request as Sent));
        return next(args);
      },
      { step: "finalizeRequest", priority: "low" },
    );
    return client.send(put);
  };
  const unchanged = () => ({});
  const refused = { name: "InvalidSignatureException", $metadata: { httpStatusCode: 400 } };

  test.each<[string, (sent: Sent) => Partial<Sent>]>([
    ["the body", ({ body }) => ({ body: Buffer.from(new TextDecoder().decode(body).replace("10", "99")) })],
    [
      "the operation",
      ({ headers }) => ({ headers: { ...headers, "x-amz-target": "DynamoDB_20120810.DeleteItem" } }),
    ],
    ["a header of AWS that is added", ({ headers }) => ({ headers: { ...headers, "x-amz-more": "1" } })],
    [
      "the region",
      ({ headers: { authorization = "", ...headers } }) => ({
        headers: { ...headers, authorization: authorization.replace("us-east-1", "eu-west-1") },
      }),
    ],
  ])("does not hold for another request: %s", async (_, change) => {
    const before = asked.length;
    await expect(sendChanged(change)).rejects.toMatchObject(refused);
    expect(asked).toHaveLength(before);
  });

  test("holds for the same request", async () => {
    const before = asked.length;
    await sendChanged(unchanged);
    expect(asked).toHaveLength(before + 1);
  });

  test("of another secret, or without the token to it, is refused", async () => {
    const { credentials } = settings();
    await expect(
      sendChanged(unchanged, { credentials: { ...credentials, secretAccessKey: "other" } }),
    ).rejects.toMatchObject(refused);
    const { sessionToken: _, ...permanent } = credentials;
    await expect(sendChanged(unchanged, { credentials: permanent })).rejects.toMatchObject({
      name: "UnrecognizedClientException",
    });
  });

  test("is taken for five minutes", async () => {
    const minute = 60_000;
    for (const systemClockOffset of [-6 * minute, 6 * minute])
      await expect(sendChanged(unchanged, { systemClockOffset })).rejects.toMatchObject(refused);
    await sendChanged(unchanged, { systemClockOffset: -4 * minute });
  });
});

describe("other services", () => {
  test("SQS needs permission by queue, for a batch as for one message", async () => {
    const client = new SQSClient(settings());
    const url = (name: string) => `${front.url}/000000000000/test-${name}`;
    await expect(
      client.send(new SendMessageCommand({ QueueUrl: url("Other"), MessageBody: "a" })),
    ).rejects.toThrow("with an explicit deny");
    await client.send(
      new SendMessageBatchCommand({ QueueUrl: url("Queue"), Entries: [{ Id: "1", MessageBody: "a" }] }),
    );
    expect(asked.at(-1)?.request.headers["x-amz-target"]).toBe("AmazonSQS.SendMessageBatch");
  });

  test("Scheduler needs a grant by group, and to pass the target's role", async () => {
    const client = new SchedulerClient(settings());
    const create = (GroupName: string, role: string) =>
      client.send(
        new CreateScheduleCommand({
          Name: "daily",
          GroupName,
          ScheduleExpression: "rate(1 day)",
          FlexibleTimeWindow: { Mode: "OFF" },
          Target: { Arn: "arn:aws:lambda:us-east-1:000000000000:function:f", RoleArn: assembly.arn(role) },
        }),
      );
    await create("mine", "ScheduleRole");
    await expect(create("mine", "Role")).rejects.toMatchObject({
      name: "AccessDeniedException",
      message: expect.stringContaining("iam:PassRole on resource: arn:aws:iam::000000000000:role/test-Role"),
    });
    await expect(create("theirs", "ScheduleRole")).rejects.toThrow("schedule/theirs/daily");
    await client.send(new GetScheduleCommand({ Name: "daily", GroupName: "mine" }));
    await expect(client.send(new GetScheduleCommand({ Name: "daily" }))).rejects.toThrow(
      "scheduler:GetSchedule on resource: arn:aws:scheduler:us-east-1:000000000000:schedule/default/daily",
    );
  });

  test("SES needs permission by address or domain", async () => {
    const client = new SESv2Client(settings());
    const simple = { Simple: { Subject: { Data: "a" }, Body: { Text: { Data: "a" } } } };
    const send = (FromEmailAddress: string, Content: SendEmailCommandInput["Content"]) =>
      client.send(new SendEmailCommand({ FromEmailAddress, Content }));
    await send("Alerts <alerts@example.org>", simple);
    await expect(send("alerts@example.com", simple)).rejects.toMatchObject({ name: "AccessDeniedException" });
  });

  test("a service that is down is an error that an SDK retries", async () => {
    const lonely = await startFront({
      assembly,
      upstreams: Object.fromEntries(
        ["dynamodb", "sqs", "scheduler", "ses", "ssm"].map((name) => [name, "http://127.0.0.1:1"]),
      ) as Parameters<typeof startFront>[0]["upstreams"],
    });
    const client = new DynamoDBClient({ ...settings("local-admin"), endpoint: lonely.url });
    await expect(client.send(new PutItemCommand({ TableName: "a", Item: {} }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 503 },
    });
    await lonely.close();
  });
});
