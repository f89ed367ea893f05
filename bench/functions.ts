import { openAssembly } from "../local/template/assembly.ts";

export type FunctionInfo = {
  /** The name in functions/routes.ts or functions/workers.ts. */
  name: string;
  /** The name with the stack's name in front. */
  fullName: string;
  /** The directory of its bundle. */
  directory: string;
  megabytes: number;
};

type Properties = {
  FunctionName?: string;
  Code: { S3Key?: string };
  MemorySize?: number;
};

/** The functions of the template, by name. */
export const functionsOf = (assemblyDirectory: string): Map<string, FunctionInfo> => {
  const assembly = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  const prefix = `${assembly.stackName}-`;
  return new Map(
    assembly.ofType<Properties>("AWS::Lambda::Function").flatMap(({ logicalId, properties }) => {
      const fullName = assembly.physicalId(logicalId);
      if (!fullName.startsWith(prefix)) return [];
      const name = fullName.slice(prefix.length);
      const directory = assembly.assetDirectory(properties.Code.S3Key ?? "");
      const info: FunctionInfo = {
        name,
        fullName,
        directory,
        megabytes: properties.MemorySize ?? 128,
      };
      return [[name, info] as const];
    }),
  );
};
