import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sign, signatureHeader } from "../../shared/alerting/senders/signature.ts";

/** HMAC as RFC 2104 defines it, computed from SHA-256 alone. */
function hmac(key: Buffer, message: Buffer): string {
  const sha256 = (...parts: Buffer[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
  const block = Buffer.alloc(64);
  (key.length > 64 ? sha256(key) : key).copy(block);
  const inner = sha256(block.map((byte) => byte ^ 0x36) as Buffer, message);
  return sha256(block.map((byte) => byte ^ 0x5c) as Buffer, inner).toString("hex");
}

describe("sign", () => {
  test("matches RFC 4231, test case 2", () => {
    expect(sign("what do ya want for nothing?", "Jefe")).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });

  test("is the HMAC-SHA256 of the UTF-8 bytes in lower-case hexadecimal", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 200 });
    fc.assert(
      fc.property(text, fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 }), (body, secret) => {
        const signature = sign(body, secret);
        expect(signature).toMatch(/^[0-9a-f]{64}$/);
        expect(signature).toBe(hmac(Buffer.from(secret), Buffer.from(body)));
        expect(sign(Buffer.from(body), secret)).toBe(signature);
      }),
    );
  });

  test("equals what openssl computes", () => {
    const body = '{"id":1,"type":"scan_error","data":{"error":"ä"}}';
    const printed = execFileSync("openssl", ["dgst", "-sha256", "-hmac", "s3cret"], {
      input: body,
      encoding: "utf8",
    });
    expect(printed.trim().split(" ").at(-1)).toBe(sign(body, "s3cret"));
  });

  test("is sent as X-Service-Signature", () => expect(signatureHeader).toBe("X-Service-Signature"));
});
