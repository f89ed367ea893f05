import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";

const servers: Server[] = [];

afterAll(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers everything with this; on the first port that is free, or on any. */
const answering = async (status: number, body: string, ports: readonly number[] = [0]): Promise<string> => {
  for (const port of ports) {
    const server = createServer((_, response) => response.writeHead(status).end(body));
    server.listen(port, "127.0.0.1");
    const isListening = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isListening) continue;
    servers.push(server);
    return String((server.address() as AddressInfo).port);
  }
  throw new Error("None of the ports is free");
};

/** Runs the real command line, without the machine's AWS settings. */
const run = (
  args: readonly string[],
  variables: Record<string, string> = {},
): Promise<{ status: number; output: string; error: string }> =>
  new Promise((resolve) => {
    const entry = join(import.meta.dirname, "../../bin/admin.ts");
    const env = {
      PATH: process.env.PATH,
      HOME: "/nonexistent",
      AWS_EC2_METADATA_DISABLED: "true",
      ...variables,
    };
    execFile(process.execPath, [entry, ...args], { env }, (error, output, errorText) =>
      resolve({ status: error === null ? 0 : Number(error.code), output, error: errorText }),
    );
  });

describe.concurrent("a service that can't be had says why in one sentence and exits 1", () => {
  test.for([
    [404, "<!doctype html>"],
    [200, "<!doctype html>"],
    [200, "{}"],
    [200, "null"],
  ] as const)("another server's %i %s", async ([status, body], { expect }) => {
    const port = await answering(status, body);
    expect(await run(["org", "show", "--org", "1", "--port", port])).toEqual({
      status: 1,
      output: "",
      error: `What answers on port ${port} is not this service: name its port with --port, or a deployed stack with --stack.\n`,
    });
  });

  test("ports that web pages must not use are asked too", async ({ expect }) => {
    const port = await answering(200, "{}", [6000, 6665, 6666, 6667, 6668, 6669, 10_080]);
    const { error } = await run(["org", "show", "--org", "1", "--port", port]);
    expect(error).toContain(`What answers on port ${port} is not this service`);
  });

  const credentials = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
  const described = (outputs: string) =>
    `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member><StackName>shop</StackName><Outputs>${outputs}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const refused = (code: string, message: string) =>
    `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

  test.for([
    [400, refused("ValidationError", "Stack with id shop does not exist"), "There is no stack shop in this"],
    [403, refused("ExpiredToken", "The token is expired."), "credentials: The token is expired.\n"],
    [200, described(""), "The stack shop is not this service's"],
    [
      200,
      described("<member><OutputKey>TableName</OutputKey><OutputValue>t</OutputValue></member>"),
      "The stack shop is not this service's",
    ],
  ] as const)("CloudFormation's %i %s", async ([status, body, sentence], { expect }) => {
    const port = await answering(status, body);
    const result = await run(["org", "show", "--org", "1", "--stack", "shop"], {
      ...credentials,
      AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${port}`,
    });
    expect(result).toMatchObject({ status: 1, output: "" });
    expect(result.error).toContain(sentence);
    expect(result.error).toMatch(/^[^\n]+\n$/);
  });

  test.for([
    ["shop", {}, "No AWS region is set"],
    ["shop", { AWS_REGION: "us-east-1" }, "No AWS credentials were found"],
    ["", credentials, "--stack must name a stack"],
  ] as const)("--stack %j with %j", async ([stack, variables, sentence], { expect }) => {
    const { error } = await run(["org", "show", "--org", "1", "--stack", stack], variables);
    expect(error).toContain(sentence);
  });
});
