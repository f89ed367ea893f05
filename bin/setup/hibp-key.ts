/** The API key of Have I Been Pwned, at the place where the deployment reads it (lib/hibp-api-key.ts). */
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
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

/** Whether somebody has stored a key. CloudFormation makes the secret with a placeholder, its first version. */
export const isKeyStored = async (stack: Stack): Promise<boolean> => {
  const { HibpSecretName: SecretId } = stack.outputs;
  if (SecretId === undefined) return (await storedKey(stack)) !== undefined;
  const { VersionIdsToStages = {} } = await new SecretsManagerClient().send(
    new DescribeSecretCommand({ SecretId }),
  );
  return Object.values(VersionIdsToStages).some((stages) => stages.includes("AWSPREVIOUS"));
};

export const storedKey = async ({ outputs }: Stack): Promise<string | undefined> => {
  const { HibpSecretName: SecretId, HibpApiKeyParameter: Name } = outputs;
  if (SecretId !== undefined)
    return (await new SecretsManagerClient().send(new GetSecretValueCommand({ SecretId }))).SecretString;
  const command = new GetParameterCommand({ Name, WithDecryption: true });
  return new SSMClient().send(command).then(
    ({ Parameter }) => Parameter?.Value,
    (error: Error) => {
      if (error instanceof ParameterNotFound) return undefined;
      throw error;
    },
  );
};

export const storeKey = async ({ outputs }: Stack, key: string): Promise<void> => {
  const { HibpSecretName: SecretId, HibpApiKeyParameter: Name } = outputs;
  if (SecretId !== undefined)
    await new SecretsManagerClient().send(new PutSecretValueCommand({ SecretId, SecretString: key }));
  else
    await new SSMClient().send(
      new PutParameterCommand({ Name, Value: key, Type: "SecureString", Overwrite: true }),
    );
};
