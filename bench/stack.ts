import { openAssembly } from "../local/template/assembly.ts";

export type Resources = {
  /** Each watches one metric, which is what AWS charges for. */
  alarms: number;
  /** Names of the functions that a queue invokes, without the stack's name. */
  queueFunctions: string[];
};

/** Resources of the template that cost money while idle. */
export const resourcesOf = (assemblyDirectory: string): Resources => {
  const assembly = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  return {
    alarms: assembly.ofType("AWS::CloudWatch::Alarm").length,
    queueFunctions: assembly
      .ofType<{ FunctionName: string }>("AWS::Lambda::EventSourceMapping")
      .map(({ properties }) => properties.FunctionName.slice(assembly.stackName.length + 1)),
  };
};
