import type { FunctionDefinition } from "./definition.ts";

/**
 * The environment of an instance: Lambda's own variables, over them the template's, over both `further`.
 * Nothing of the runtime's own environment but its compile cache. Variables of the template whose names end
 * in `_INTERVAL_SECONDS` are divided by `speed`.
 */
export const environmentOf = (
  definition: FunctionDefinition,
  { region, speed, further }: { region: string; speed: number; further: Record<string, string> },
): Record<string, string> => {
  const { name, runtime, memoryMegabytes, variables } = definition;
  const { NODE_COMPILE_CACHE } = process.env;
  return {
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
    TZ: ":UTC",
    AWS_DEFAULT_REGION: region,
    AWS_EXECUTION_ENV: `AWS_Lambda_${runtime}`,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_REGION: region,
    ...accelerate(variables, speed),
    ...further,
  };
};

const accelerate = (variables: Readonly<Record<string, string>>, speed: number): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      name.endsWith("_INTERVAL_SECONDS") ? String(Number(value) / speed) : value,
    ]),
  );
