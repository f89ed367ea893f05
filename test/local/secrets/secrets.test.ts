import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { expect, test } from "vitest";
import { startSecrets } from "../../../local/secrets/secrets.ts";
import { openTemplate } from "../template.ts";

test("a secret is found by its name and by its ARN, and no other is", async () => {
  const assembly = openTemplate({
    Key: { Type: "AWS::SecretsManager::Secret", Properties: { Name: "test/key" } },
  });
  const secrets = await startSecrets({ assembly, value: "0123" });
  const client = new SecretsManagerClient({
    endpoint: secrets.url,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  for (const SecretId of ["test/key", assembly.arn("Key")]) {
    const { SecretString, Name } = await client.send(new GetSecretValueCommand({ SecretId }));
    expect({ SecretString, Name }).toEqual({ SecretString: "0123", Name: "test/key" });
  }
  await expect(client.send(new GetSecretValueCommand({ SecretId: "test/other" }))).rejects.toMatchObject({
    name: "ResourceNotFoundException",
  });
  client.destroy();
  await secrets.close();
});
