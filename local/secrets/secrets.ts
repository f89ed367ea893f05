import { type LoopbackServer, listenOnLoopback, type Reply } from "../loopback.ts";
import type { Assembly } from "../template/assembly.ts";

/**
 * Secrets Manager's GetSecretValue on a free loopback port. Every secret of the template has the same value,
 * which is all that a service with one secret needs.
 */
export const startSecrets = async (settings: {
  assembly: Assembly;
  value: string;
}): Promise<LoopbackServer> => {
  const { assembly, value } = settings;
  const secrets = assembly.ofType("AWS::SecretsManager::Secret").map(({ logicalId }) => ({
    name: assembly.physicalId(logicalId),
    arn: assembly.arn(logicalId),
  }));

  return listenOnLoopback((request, body) => {
    if (request.headers["x-amz-target"] !== "secretsmanager.GetSecretValue") {
      return refuse("InvalidRequestException", "A local run knows only GetSecretValue.");
    }
    const { SecretId: id } = JSON.parse(body.toString()) as { SecretId?: string };
    const secret = secrets.find(({ name, arn }) => id === name || id === arn);
    if (secret === undefined) {
      return refuse("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");
    }
    return {
      status: 200,
      body: { ARN: secret.arn, Name: secret.name, SecretString: value },
    };
  });
};

const refuse = (type: string, message: string): Reply => ({
  status: 400,
  body: { __type: type, Message: message },
});
