import { type FunctionDefinition, readFunction } from "../local/lambda/definition.ts";
import { openAssembly } from "../local/template/assembly.ts";

/** The functions of the template, by their names in functions/routes.ts or functions/workers.ts. */
export const functionsOf = (assemblyDirectory: string): Map<string, FunctionDefinition> => {
  const assembly = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  const prefix = `${assembly.stackName}-`;
  return new Map(
    assembly
      .ofType("AWS::Lambda::Function")
      .map(({ logicalId }) => readFunction(assembly, logicalId))
      .map((definition) => [definition.name.slice(prefix.length), definition]),
  );
};
