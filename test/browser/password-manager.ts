/** What extensions of password managers do to passkeys: scripts that run in the page before its own. */

/** Answers with a plain object that only looks like a credential. `change` may use the names `fake` and `real`. */
const answering = (change: string): string => `
  for (const name of ["create", "get"]) {
    const ask = navigator.credentials[name].bind(navigator.credentials);
    navigator.credentials[name] = async (options) => {
      const real = await ask(options);
      const { response } = real;
      const fake = { id: real.id, rawId: real.rawId, type: real.type, authenticatorAttachment: "platform" };
      fake.response = { clientDataJSON: response.clientDataJSON };
      if (name === "create") fake.response.attestationObject = response.attestationObject;
      else
        for (const part of ["authenticatorData", "signature", "userHandle"]) fake.response[part] = response[part];
      ${change};
      return fake;
    };
  }`;

const methodsFail = "Object.setPrototypeOf(fake, PublicKeyCredential.prototype)";

/** By its differences from a browser. */
export const managers = {
  "whose toJSON is an illegal invocation": answering(methodsFail),
  "whose toJSON throws": answering(`${methodsFail}; fake.toJSON = () => { throw new TypeError("not yet") }`),
  "whose toJSON gives bytes as objects": answering("fake.toJSON = () => ({ ...fake, toJSON: undefined })"),
  "that has no methods": answering(""),
  "that gives parts of larger buffers": answering(`
    for (const part of Object.keys(fake.response)) {
      const bytes = new Uint8Array(fake.response[part]);
      const larger = new Uint8Array(bytes.length + 7);
      larger.set(bytes, 3);
      fake.response[part] = larger.subarray(3, 3 + bytes.length);
    }`),
  "in a browser that parses no JSON": `
    delete PublicKeyCredential.parseCreationOptionsFromJSON;
    delete PublicKeyCredential.parseRequestOptionsFromJSON;
    delete PublicKeyCredential.prototype.toJSON;`,
};

export const withoutUserHandle = answering("delete fake.response.userHandle");
export const withEmptyUserHandle = answering(
  "if (name === 'get') fake.response.userHandle = new ArrayBuffer(0)",
);
export const withoutSignature = answering("if (name === 'get') fake.response.signature = new ArrayBuffer(0)");
export const unreadable = answering("fake.response = {}");
