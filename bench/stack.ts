import { openAssembly } from "../local/assembly.ts";

export type Resources = {
  /** An alarm is paid for by the metrics that it looks at. */
  alarmMetrics: number;
  /** Names of the functions that a queue feeds. */
  queueFunctions: string[];
};

/** What of the template is paid for by its being there. */
export const resourcesOf = (assemblyDirectory: string): Resources => {
  const assembly = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  const alarms = assembly.ofType<{ Metrics?: { MetricStat?: object }[] }>("AWS::CloudWatch::Alarm");
  const metrics = alarms.map(
    ({ properties: { Metrics } }) =>
      Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1,
  );
  return {
    alarmMetrics: metrics.reduce((sum, each) => sum + each, 0),
    queueFunctions: assembly
      .ofType<{ FunctionName: string }>("AWS::Lambda::EventSourceMapping")
      .map(({ properties }) => properties.FunctionName.slice(assembly.stackName.length + 1)),
  };
};
