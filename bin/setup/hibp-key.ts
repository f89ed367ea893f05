/** The API key of Have I Been Pwned, in the parameter from which the deployment reads it. */
import { GetParameterCommand, ParameterNotFound, PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import type { Stack } from "../admin/connect.ts";
import { CommandError } from "../admin/error.ts";

/** Without the spaces and line breaks around it. Throws if it can be no key, without repeating it. */
export const parseKey = (given: string): string => {
  const key = given.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CommandError(
    key === ""
      ? "The API key of Have I Been Pwned is needed: in HIBP_API_KEY, at the terminal, or on standard input."
      : "What was given as API key of Have I Been Pwned has characters that no key has.",
  );
};

/** Undefined: nobody has stored one yet. */
export const storedKey = async ({ outputs }: Stack): Promise<string | undefined> => {
  const command = new GetParameterCommand({ Name: outputs.HibpApiKeyParameter, WithDecryption: true });
  return new SSMClient().send(command).then(
    ({ Parameter }) => Parameter?.Value,
    (error: Error) => {
      if (error instanceof ParameterNotFound) return undefined;
      throw error;
    },
  );
};

export const storeKey = async ({ outputs }: Stack, key: string): Promise<void> => {
  const { HibpApiKeyParameter: Name } = outputs;
  const parameter = { Name, Value: key, Type: "SecureString", Overwrite: true } as const;
  await new SSMClient().send(new PutParameterCommand(parameter));
};
