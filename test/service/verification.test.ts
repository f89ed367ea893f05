/** The code that docs/alerts.md gives to receivers, run against deliveries as they arrived. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { beforeAll, describe, expect, test } from "vitest";
import { project } from "../docs/markdown.ts";
import { admin } from "./admin.ts";
import { createChannel, inboxOf } from "./alert-channels.ts";
import { createOrganization } from "./organization.ts";
import { type Received, waitForRequests } from "./receiver.ts";

const page = readFileSync(join(project, "docs/alerts.md"), "utf8");

const codeIn = (fence: string): string => {
  const [, code] = new RegExp(`\n\`\`\`${fence}\n(.*?)\n\`\`\`\n`, "s").exec(page) ?? [];
  if (code === undefined) throw new Error(`docs/alerts.md has no code in ${fence}`);
  return code;
};

/**
 * A program that prints what both functions say of each case, a line such as "true true". Six arguments are a
 * case: the file of the body, X-Service-Signature, webhook-id, webhook-timestamp, webhook-signature, the
 * secret.
 */
type Language = {
  fence: string;
  tool: string;
  files: (code: string) => Record<string, string>;
  build?: string[];
  run: string[];
};

const languages: Record<string, Language> = {
  TypeScript: {
    fence: "ts",
    tool: process.execPath,
    files: (code) => ({
      "check.ts": `${code}
import { readFileSync } from "node:fs";
for (let at = 2; at < process.argv.length; at += 6) {
  const [file, header, id, timestamp, signature, secret] = process.argv.slice(at, at + 6) as string[];
  const body = readFileSync(file ?? "");
  const headers = { id, timestamp, signature } as never;
  console.log(isGenuine(body, header!, secret!), isGenuineStandard(body, headers, secret!));
}`,
    }),
    run: [process.execPath, "--experimental-strip-types", "--no-warnings", "check.ts"],
  },
  Python: {
    fence: "python",
    tool: "python3",
    files: (code) => ({
      "check.py": `${code}
import sys
for at in range(1, len(sys.argv), 6):
    file, header, id, timestamp, signature, secret = sys.argv[at:at + 6]
    body = open(file, "rb").read()
    answers = [is_genuine(body, header, secret), is_genuine_standard(body, id, timestamp, signature, secret)]
    print(*[str(answer).lower() for answer in answers])`,
    }),
    run: ["python3", "check.py"],
  },
  Go: {
    fence: "go",
    tool: "go",
    files: (code) => ({
      "go.mod": "module example.com/check\n\ngo 1.20\n",
      "webhooks/webhooks.go": code,
      "main.go": `package main
import ("fmt"; "os"; "example.com/check/webhooks")
func main() {
	for a := os.Args[1:]; len(a) > 0; a = a[6:] {
		body, _ := os.ReadFile(a[0])
		fmt.Println(webhooks.IsGenuine(body, a[1], a[5]), webhooks.IsGenuineStandard(body, a[2], a[3], a[4], a[5]))
	}
}`,
    }),
    // Where Go's cache is empty, it compiles its library. That takes a third less without optimizations.
    build: ["go", "build", "-gcflags=all=-N -l", "-o", "check", "."],
    run: ["./check"],
  },
  Java: {
    fence: "java",
    tool: "javac",
    files: (code) => ({
      "Check.java": `${code}
class Check {
  public static void main(String[] all) throws Exception {
    for (int at = 0; at < all.length; at += 6) {
      String[] a = java.util.Arrays.copyOfRange(all, at, at + 6);
      byte[] body = java.nio.file.Files.readAllBytes(java.nio.file.Path.of(a[0]));
      boolean one = WebhookSignatures.isGenuine(body, a[1], a[5]);
      System.out.println(one + " " + WebhookSignatures.isGenuineStandard(body, a[2], a[3], a[4], a[5]));
    }
  }
}`,
    }),
    build: ["javac", "-encoding", "UTF-8", "Check.java"],
    run: ["java", "-Dsun.jnu.encoding=UTF-8", "Check"],
  },
  Ruby: {
    fence: "ruby",
    tool: "ruby",
    files: (code) => ({
      "check.rb": `${code}
ARGV.each_slice(6) do |file, header, id, timestamp, signature, secret|
  body = File.binread(file)
  puts [genuine?(body, header, secret), genuine_standard?(body, id, timestamp, signature, secret)].join(" ")
end`,
    }),
    run: ["ruby", "check.rb"],
  },
  "C#": {
    fence: "csharp",
    tool: "mcs",
    files: (code) => ({
      "Check.cs": `${code}
class Check {
  static void Main(string[] all) {
    for (int at = 0; at < all.Length; at += 6) {
      string[] a = all.Skip(at).Take(6).ToArray();
      byte[] body = System.IO.File.ReadAllBytes(a[0]);
      bool one = WebhookSignatures.IsGenuine(body, a[1], a[5]);
      bool two = WebhookSignatures.IsGenuineStandard(body, a[2], a[3], a[4], a[5]);
      Console.WriteLine($"{one} {two}".ToLowerInvariant());
    }
  }
}`,
    }),
    build: ["mcs", "Check.cs"],
    run: ["mono", "Check.exe"],
  },
  PHP: {
    fence: "php",
    tool: "php",
    files: (code) => ({
      "check.php": `${code}
foreach (array_chunk(array_slice($argv, 1), 6) as [$file, $header, $id, $timestamp, $signature, $secret]) {
    $body = file_get_contents($file);
    $both = [isGenuine($body, $header, $secret), isGenuineStandard($body, $id, $timestamp, $signature, $secret)];
    echo implode(' ', array_map(fn ($each) => $each ? 'true' : 'false', $both)), "\n";
}`,
    }),
    run: ["php", "check.php"],
  },
};

const isInstalled = (tool: string): boolean => spawnSync("which", [tool]).status === 0;

const secrets = ["a secret – of the receiver", `whsec_${randomBytes(24).toString("base64")}`];
let deliveries: { received: Received; secret: string }[];

beforeAll(async () => {
  const organization = await createOrganization();
  deliveries = await Promise.all(
    secrets.map(async (secret, index) => {
      const url = inboxOf(organization, `verification-${index}`);
      const channel = await createChannel(organization.api, { channel: "webhook", config: { url, secret } });
      await admin("channel test", { org: organization.id, channel });
      const [received] = await waitForRequests(url, 1);
      return { received: received as Received, secret };
    }),
  );
});

test("the library standardwebhooks takes raw and whsec_ secrets, and refuses changes", () => {
  for (const { received, secret } of deliveries) {
    const libraryOf = (secret: string): Webhook =>
      secret.startsWith("whsec_") ? new Webhook(secret) : new Webhook(Buffer.from(secret), { format: "raw" });
    const { body } = received;
    const headers = received.headers as Record<string, string>;
    expect(libraryOf(secret).verify(body, headers)).toEqual(JSON.parse(String(body)));
    const earlier = String(Number(headers["webhook-timestamp"]) - 1);
    for (const [otherSecret, otherBody, changed] of [
      [`${secret.slice(0, -4)}AAA=`, body, {}],
      [secret, Buffer.concat([body, Buffer.from(" ")]), {}],
      [secret, body, { "webhook-timestamp": earlier }],
      [secret, body, { "webhook-id": `${headers["webhook-id"]}0` }],
      [secret, body, { "webhook-signature": "v1," }],
    ] as const) {
      const verify = () => libraryOf(otherSecret).verify(otherBody, { ...headers, ...changed });
      expect(verify).toThrow(WebhookVerificationError);
    }
  }
});

describe("the code for receivers", () => {
  for (const [name, { fence, tool, files, build, run }] of Object.entries(languages)) {
    test.skipIf(!isInstalled(tool))(`in ${name} accepts a delivery, and no changed one`, () => {
      const folder = mkdtempSync(join(tmpdir(), "verification-"));
      for (const [path, content] of Object.entries(files(codeIn(fence)))) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
      const execute = ([command = "", ...rest]: string[]): string =>
        execFileSync(command, rest, {
          cwd: folder,
          encoding: "utf8",
          env: { ...process.env, LC_ALL: "C.UTF-8", GOFLAGS: "-mod=mod", GOTOOLCHAIN: "local" },
        }).trim();
      if (build !== undefined) execute(build);
      const cases: [says: string, Received["headers"], body: Buffer, secret: string][] = deliveries.flatMap(
        ({ received: { headers, body }, secret }) => {
          const earlier = String(Number(headers["webhook-timestamp"]) - 1);
          return [
            ["true true", headers, body, secret],
            ["false false", headers, Buffer.concat([body, Buffer.from(" ")]), secret],
            ["false false", headers, body, `${secret.slice(0, -4)}AAA=`],
            ["true false", { ...headers, "webhook-timestamp": earlier }, body, secret],
            ["true false", { ...headers, "webhook-signature": "v1," }, body, secret],
            ["false true", { ...headers, "x-service-signature": "" }, body, secret],
          ];
        },
      );
      const given = cases.flatMap(([, headers, body, secret], index) => {
        writeFileSync(join(folder, `body-${index}.json`), body);
        const names = ["x-service-signature", "webhook-id", "webhook-timestamp", "webhook-signature"];
        return [`body-${index}.json`, ...names.map((name) => headers[name] ?? ""), secret];
      });
      expect(execute([...run, ...given]).split("\n")).toEqual(cases.map(([says]) => says));
    });
  }
});
