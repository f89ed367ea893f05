import { describe, expect, test } from "vitest";
import { readCommandLine, usage } from "../../local/command-line.ts";

const read = (...args: string[]) =>
  readCommandLine(args, { workingDirectory: "/home/ada", defaultDirectory: "/service/.local" });

describe("the command line", () => {
  test("has defaults for everything", () => {
    expect(read()).toEqual({
      port: 3000,
      dataDirectory: "/service/.local/3000",
      speed: 1,
      dynamodb: {
        latency: { read: 0, write: 0, transaction: 0 },
        conflicts: true,
        lostReplies: 0,
        indexLag: 0,
      },
      allowedOrigins: [],
      hibpUrl: undefined,
      breachesDirectory: undefined,
      plan: undefined,
      transactionKeys: "all",
      identityProvider: {},
      withDemo: true,
    });
  });

  test("takes every option", () => {
    const text =
      "--port 0 --data data --speed 3600 --allow-origin http://127.0.0.1:9000 --allow-origin https://hooks.example/ " +
      "--dns 127.0.0.1:5353 --breaches ../breaches --no-demo --table-latency 4/8/30 --lost-replies 0.01 " +
      "--index-lag 800 --plan high-rpm --transaction-keys own " +
      "--oidc-issuer http://127.0.0.1:9002 --oidc-client-id breach-monitor --oidc-require hd=acme.com";
    expect(read(...text.split(" "))).toEqual({
      port: 0,
      dataDirectory: "/home/ada/data",
      speed: 3600,
      dynamodb: {
        latency: { read: 4, write: 8, transaction: 30 },
        conflicts: true,
        lostReplies: 0.01,
        indexLag: 800,
      },
      allowedOrigins: ["http://127.0.0.1:9000", "https://hooks.example"],
      nameServer: "127.0.0.1:5353",
      hibpUrl: undefined,
      breachesDirectory: "/home/breaches",
      plan: "high-rpm",
      transactionKeys: "own",
      identityProvider: {
        oidcIssuer: "http://127.0.0.1:9002",
        oidcClientId: "breach-monitor",
        oidcRequire: "hd=acme.com",
      },
      withDemo: false,
    });
    expect(read("--port", "3001").dataDirectory).toBe("/service/.local/3001");
    expect(read("--memory", "--hibp-url", "http://127.0.0.1:9001/api/v3/")).toMatchObject({
      dataDirectory: undefined,
      hibpUrl: "http://127.0.0.1:9001/api/v3",
    });
  });

  test("names exactly the options that it takes when it refuses one", () => {
    const told = [...usage.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, option]) => option);
    expect(() => read("--prot")).toThrow(`The options are ${told.join(", ")}.`);
  });

  test.each([
    [["--prot", "1"], "Unknown option '--prot'. The options are --port, --data,"],
    [["extra"], "Unexpected argument 'extra'."],
    [["--port"], "Option '--port <value>' argument missing."],
    [["--port", "70000"], '--port must be a whole number from 0 to 65535, not "70000".'],
    [
      ["--table-latency", "4/8"],
      '--table-latency takes three times in milliseconds, such as 4/8/30, not "4/8".',
    ],
    [["--lost-replies", "1"], "--lost-replies must be a number from 0 to below 1"],
    [["--speed", "0"], '--speed must be a number from 1 to 1000000, not "0".'],
    [["--speed", "-1"], "A value that begins with a hyphen is given as --speed=VALUE."],
    [["--data", ""], '--data must name a directory, not "".'],
    [["--breaches", ""], '--breaches must name a directory, not "".'],
    [["--memory", "--data", "x"], "--memory keeps no data"],
    [["--breaches", "x", "--hibp-url", "http://a/api/v3"], "--breaches is for the embedded HIBP server"],
    [["--plan", "ultra"], '--plan must be core or pro or high-rpm, not "ultra".'],
    [["--plan", "pro", "--hibp-url", "http://a/api/v3"], "--plan is for the embedded HIBP server"],
    [["--dns", "localhost:53"], "--dns takes an IPv4 address and a port, such as 127.0.0.1:5353, not"],
    [["--dns", "127.0.0.1:0"], "--dns takes an IPv4 address and a port"],
    [["--allow-origin", "127.0.0.1:9000"], "--allow-origin must be an http or https URL"],
    [
      ["--allow-origin", "http://127.0.0.1:9000/hook"],
      "--allow-origin takes an origin without a path, such as http://127.0.0.1:9000",
    ],
    [["--hibp-url", "ftp://a"], "--hibp-url must be an http or https URL"],
  ])("%j is refused in one sentence", (args, sentence) => {
    let message = "";
    try {
      read(...args);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(sentence);
    expect(message).not.toContain("\n");
  });
});
