import { Validations } from "aws-cdk-lib";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";

/** The secret of the Have I Been Pwned API key. It holds a random placeholder until the key is set. */
export function createHibpApiKey(scope: Construct, secretName: string): Secret {
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
}
