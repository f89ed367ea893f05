import { Validations } from "aws-cdk-lib";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import type { HibpApiKeyChoice } from "./options.ts";

/**
 * Where the Have I Been Pwned API key is. `secret` is a resource of the stack and costs $0.40 a month; `parameter` is the name, from its
 * first slash, of a parameter that operators make.
 */
export type HibpApiKey = { secret: Secret; secretName: string } | { parameter: string };

export const createHibpApiKey = (scope: Construct, name: string, choice: HibpApiKeyChoice): HibpApiKey => {
  if (choice === "parameter") return { parameter: `/breach-monitor/${name}/hibp-api-key` };
  const secretName = `${name}/hibp-api-key`;
  return { secret: createSecret(scope, secretName), secretName };
};

/** It holds a random placeholder until the key is set. */
const createSecret = (scope: Construct, secretName: string): Secret => {
  const secret = new Secret(scope, "HibpApiKey", {
    secretName,
    description: "API key of Have I Been Pwned, as plain text",
    generateSecretString: { excludePunctuation: true },
  });
  Validations.of(secret).acknowledge({
    id: "AwsSolutions-SMG4",
    reason: "Have I Been Pwned issues the key to a person: it cannot be rotated by a program",
  });
  return secret;
};
