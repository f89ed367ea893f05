import { openAssembly } from "../local/assembly.ts";

export type Resources = {
  /** Paid for by the metric; each looks at one. */
  alarms: number;
  /** Names of the functions that a queue feeds. */
  queueFunctions: string[];
};

/** What of the template is paid for by its being there. */
export const resourcesOf = (assemblyDirectory: string): Resources => {
  const assembly = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  return {
    alarms: assembly.ofType("AWS::CloudWatch::Alarm").length,
    queueFunctions: assembly
      .ofType<{ FunctionName: string }>("AWS::Lambda::EventSourceMapping")
      .map(({ properties }) => properties.FunctionName.slice(assembly.stackName.length + 1)),
  };
};
