import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { channelConfig } from "../../shared/alerting/kinds/configs-schema.ts";
import { sign, standardHeaders } from "../../shared/alerting/kinds/webhook/signature.ts";
import { anyCharacter } from "../any-character.ts";

/** HMAC as RFC 2104 defines it, computed from SHA-256 alone. */
function hmac(key: Buffer, message: Buffer): string {
  const sha256 = (...parts: Buffer[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
  const block = Buffer.alloc(64);
  (key.length > 64 ? sha256(key) : key).copy(block);
  const inner = sha256(block.map((byte) => byte ^ 0x36) as Buffer, message);
  return sha256(block.map((byte) => byte ^ 0x5c) as Buffer, inner).toString("hex");
}

describe("sign", () => {
  test("is the HMAC-SHA256 of the UTF-8 bytes in lower-case hexadecimal", () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 200 });
    fc.assert(
      fc.property(text, fc.string({ unit: anyCharacter, minLength: 1, maxLength: 200 }), (body, secret) => {
        const signature = sign(body, secret);
        expect(signature).toMatch(/^[0-9a-f]{64}$/);
        expect(signature).toBe(hmac(Buffer.from(secret), Buffer.from(body)));
        expect(sign(Buffer.from(body), secret)).toBe(signature);
      }),
    );
  });
});

describe("Standard Webhooks", () => {
  const body = '{"test": 2432232314}';
  const at = new Date(1_614_265_330_999);

  test("sign id, time and body, with a whsec_ key or a secret's UTF-8", () => {
    const key = Buffer.from("C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "base64");
    const headers = { "webhook-id": "41", "webhook-timestamp": "1614265330" };
    for (const [secret, bytes] of [
      [`whsec_${key.toString("base64")}`, key],
      ["schlüssel", Buffer.from("schlüssel")],
    ] as const) {
      const hex = hmac(bytes, Buffer.from(`41.1614265330.${body}`));
      expect(standardHeaders({ id: 41, at, body }, secret)).toEqual({
        ...headers,
        "webhook-signature": `v1,${Buffer.from(hex, "hex").toString("base64")}`,
      });
    }
  });

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
  ])("%s is a secret: %s", (secret, isOne) => {
    const config = { url: "https://hooks.example.com/", secret };
    expect(channelConfig.webhook.safeParse(config).success).toBe(isOne);
  });
});
