import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Assembly, openAssembly } from "../../local/template/assembly.ts";

/**
 * Writes a cloud assembly with one stack "test" of these resources to a new temporary directory. `sources`:
 * the modules of its functions, by name.
 */
export const writeAssembly = (
  resources: Record<string, unknown>,
  sources: Readonly<Record<string, string>> = {},
): string => {
  const directory = mkdtempSync(join(tmpdir(), "assembly-"));
  const stack = {
    type: "aws:cloudformation:stack",
    properties: { templateFile: "test.template.json" },
  };
  writeFileSync(join(directory, "manifest.json"), JSON.stringify({ artifacts: { test: stack } }));
  writeFileSync(join(directory, "test.template.json"), JSON.stringify({ Resources: resources }));
  const files = Object.keys(sources).map((name) => [name, { source: { path: name } }]);
  writeFileSync(join(directory, "test.assets.json"), JSON.stringify({ files: Object.fromEntries(files) }));
  for (const [name, source] of Object.entries(sources)) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, "index.mjs"), source);
  }
  return directory;
};

/** The functions of these sources. */
export const functionsOf = (
  sources: Readonly<Record<string, string>>,
  properties: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(sources).map((name) => {
      const Code = { S3Key: `${name}.zip` };
      const own = { Code, Handler: "index.handler", Runtime: "nodejs24.x", Timeout: 5, ...properties };
      return [name, { Type: "AWS::Lambda::Function", Properties: own }];
    }),
  );

/** Opens such a cloud assembly for a local account. Nothing stays on disk. */
export const openTemplate = (resources: Record<string, unknown>): Assembly => {
  const directory = writeAssembly(resources);
  try {
    return openAssembly(directory, { region: "us-east-1", accountId: "000000000000" });
  } finally {
    rmSync(directory, { recursive: true });
  }
};

/** How an AWS client reaches a part of a local run by itself, which knows no callers. */
export const clientOf = (endpoint: string) => ({
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
  maxAttempts: 1,
});

/** Opens a template whose queue Work, with DeadLetters, invokes the function Worker. */
export const openWorkerTemplate = (properties: {
  worker?: Record<string, unknown>;
  queue?: Record<string, unknown>;
  mapping?: Record<string, unknown>;
}): Assembly =>
  openTemplate({
    Worker: {
      Type: "AWS::Lambda::Function",
      Properties: { Handler: "index.handler", Timeout: 2, ...properties.worker },
    },
    DeadLetters: { Type: "AWS::SQS::Queue" },
    Work: { Type: "AWS::SQS::Queue", Properties: { ...properties.queue } },
    Mapping: {
      Type: "AWS::Lambda::EventSourceMapping",
      Properties: {
        EventSourceArn: { "Fn::GetAtt": ["Work", "Arn"] },
        FunctionName: { Ref: "Worker" },
        BatchSize: 1,
        ...properties.mapping,
      },
    },
  });
