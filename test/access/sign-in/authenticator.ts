/** An authenticator in software, which answers as a browser does: also wrongly, where a test wants that. */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

type Options = {
  challenge: string;
  rp?: { id: string };
  rpId?: string;
  user?: { id: string; name: string };
};

/** What a test changes of an answer. */
type Changes = Partial<{
  origin: string;
  rpId: string;
  challenge: string;
  type: string;
  userHandle: string;
  flags: number;
  signature: string;
}>;

const userPresent = 0x01;
const userVerified = 0x04;
const hasCredential = 0x40;

/** What makes an answer wrong, to the options of a sign-in and to those of a new passkey alike. */
export const wrongAnswers = [
  ["of another site", { origin: "https://attacker.example" }],
  ["for another host", { rpId: "attacker.example" }],
  ["without a PIN, finger or face", { flags: userPresent }],
  ["with a challenge that is none", { challenge: "x".repeat(3_000) }],
] as const;

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();

/** CBOR (RFC 8949) of what passkeys are made of. */
const cbor = (value: unknown): Buffer => {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...(value as Map<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flat().map(cbor)]);
};
const head = (major: number, size: number): Buffer =>
  Buffer.from(
    size < 24
      ? [(major << 5) | size]
      : size < 256
        ? [(major << 5) | 24, size]
        : [(major << 5) | 25, size >> 8, size & 255],
  );

/** A passkey for the service at this origin; `counts` says how often it has signed. */
export const createPasskey = (origin: string, { counts = false }: { counts?: boolean } = {}) => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = randomBytes(32);
  const credential = { id: id.toString("base64url"), rawId: id.toString("base64url"), type: "public-key" };
  let userHandle = "";
  const passkey = {
    id: credential.id,
    counter: 0,
    /** The credential of `navigator.credentials.create()`, as JSON. */
    register: ({ challenge, rp, user }: Options, changes: Changes = {}) => {
      userHandle = user?.id ?? "";
      const { x = "", y = "" } = publicKey.export({ format: "jwk" });
      const key = new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, "base64url")],
        [-3, Buffer.from(y, "base64url")],
      ]);
      const length = Buffer.from([id.length >> 8, id.length & 255]);
      const { clientData, authData } = made("webauthn.create", challenge, rp?.id, changes);
      const flagged = Buffer.from(authData);
      flagged.writeUInt8(flagged.readUInt8(32) | hasCredential, 32);
      const whole = Buffer.concat([flagged, Buffer.alloc(16), length, id, cbor(key)]);
      const attestation = new Map<string, unknown>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", whole],
      ]);
      return {
        ...credential,
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData.toString("base64url"),
          attestationObject: cbor(attestation).toString("base64url"),
        },
      };
    },
    /** The credential of `navigator.credentials.get()`, as JSON. */
    answer: ({ challenge, rpId }: Options, changes: Changes = {}) => {
      if (counts) passkey.counter += 1;
      const { clientData, authData } = made("webauthn.get", challenge, rpId, changes);
      const signature = sign("sha256", Buffer.concat([authData, sha256(clientData)]), privateKey);
      return {
        ...credential,
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData.toString("base64url"),
          authenticatorData: authData.toString("base64url"),
          signature: changes.signature ?? signature.toString("base64url"),
          userHandle: changes.userHandle ?? userHandle,
        },
      };
    },
  };
  const made = (type: string, challenge: string, rpId: string | undefined, changes: Changes) => {
    const said = { type: changes.type ?? type, challenge: changes.challenge ?? challenge };
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(passkey.counter);
    return {
      clientData: Buffer.from(
        JSON.stringify({ ...said, origin: changes.origin ?? origin, crossOrigin: false }),
      ),
      authData: Buffer.concat([
        sha256(changes.rpId ?? rpId ?? new URL(origin).hostname),
        Buffer.from([changes.flags ?? userPresent | userVerified]),
        counter,
      ]),
    };
  };
  return passkey;
};
export type TestPasskey = ReturnType<typeof createPasskey>;
