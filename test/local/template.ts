import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Assembly, openAssembly } from "../../local/template/assembly.ts";

/** Writes a cloud assembly with one stack "test" of these resources to a new temporary directory. */
export const writeAssembly = (resources: Record<string, unknown>): string => {
  const directory = mkdtempSync(join(tmpdir(), "assembly-"));
  const stack = {
    type: "aws:cloudformation:stack",
    properties: { templateFile: "test.template.json" },
  };
  writeFileSync(join(directory, "manifest.json"), JSON.stringify({ artifacts: { test: stack } }));
  writeFileSync(join(directory, "test.template.json"), JSON.stringify({ Resources: resources }));
  writeFileSync(join(directory, "test.assets.json"), JSON.stringify({ files: {} }));
  return directory;
};

/** Opens such a cloud assembly for a local account. Nothing stays on disk. */
export const openTemplate = (resources: Record<string, unknown>): Assembly => {
  const directory = writeAssembly(resources);
  try {
    return openAssembly(directory, { region: "us-east-1", accountId: "000000000000" });
  } finally {
    rmSync(directory, { recursive: true });
  }
};

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
