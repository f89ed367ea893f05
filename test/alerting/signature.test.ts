/** That signatures verify is tested with the receivers' code in test/service/verification.test.ts. */
import { expect, test } from "vitest";
import { channelConfig } from "../../shared/alerting/channels/channel-schema.ts";

test.each([
  ["any text", true],
  ["whsec", true],
  [`whsec_${Buffer.alloc(16).toString("base64")}`, true],
  [`whsec_${Buffer.alloc(24, 255).toString("base64")}`, true],
  ["whsec_", false],
  [`whsec_${Buffer.alloc(15).toString("base64")}`, false],
  [`whsec_${Buffer.alloc(16).toString("base64").replace("==", "")}`, false],
  [`whsec_${Buffer.alloc(24, 255).toString("base64url")}`, false],
  [`whsec_${"-".repeat(32)}`, false],
])("%s is a secret to sign with: %s", (secret, isOne) => {
  const config = { url: "https://hooks.example.com/", secret };
  expect(channelConfig.webhook.safeParse(config).success).toBe(isOne);
});
