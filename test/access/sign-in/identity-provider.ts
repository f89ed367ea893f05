/**
 * A certified OpenID Connect provider on the loopback, whose people sign in without a page, and which can misbehave.
 */
import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

type Claims = Record<string, unknown>;

/** What real providers do in one way or another, and what hostile ones do. */
export type Habits = {
  /**
   * Who signs in next; undefined: whoever it is refuses. UserInfo tells these claims. Without a `sub` each
   * address is an account.
   */
  person: Claims | undefined;
  /** What discovery says besides what it would say; undefined values are left out of it. */
  metadata: Claims;
  /** Whether the token endpoint takes a request with this header; undefined: the client's secret is in the body. */
  takesClient: (authorization: string | undefined) => boolean;
  /** Whether it leads back with `iss` (RFC 9207). */
  namesItself: boolean;
  /** What ID tokens are signed with. */
  algorithm: "RS256" | "ES256" | "HS256";
  /** Changes the claims of ID tokens before they are signed. */
  alter: (claims: Claims) => Claims;
  /** Changes ID tokens as they are written. */
  rewrite: (token: string) => string;
  /** Joins the reply of the token endpoint. */
  reply: Claims;
  /** Answers requests of paths that it matches by itself. */
  answer: { path: RegExp; by: (request: IncomingMessage, response: ServerResponse) => void } | undefined;
};

export type IdentityProvider = Habits & {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Has these habits from now on, and those of a certified provider otherwise. */
  behave(habits?: Partial<Habits>): void;
  /** Paths that were asked for. */
  asked: string[];
  /** Codes, tokens and secrets that it has given or got. */
  secrets: string[];
  /** Lets this client come back to this url. */
  redirectTo(url: string): void;
  /** Signs with another key from now on, and no longer publishes the one before. */
  rotateKey(): void;
  /** Visits the url of an attempt as a browser does; gives the url that it is led back to. */
  visit(url: string): Promise<URL>;
  close(): Promise<void>;
};

const certified: Habits = {
  person: undefined,
  metadata: {},
  takesClient: () => true,
  namesItself: true,
  algorithm: "RS256",
  alter: (claims) => claims,
  rewrite: (token) => token,
  reply: {},
  answer: undefined,
};

export const startIdentityProvider = async (): Promise<IdentityProvider> => {
  const clientId = "breach-monitor";
  // Parts of it are encoded in the header of RFC 6749 (2.3.1).
  const clientSecret = `client-secret~${randomUUID()}+/%`;
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end();
  let redirectUri = "http://127.0.0.1/none";
  let keys = newKeys();
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "", "http://local").pathname;
    provider.asked.push(path);
    const { answer } = provider;
    if (answer?.path.test(path)) answer.by(request, response);
    else handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const build = (): void => {
    const oidc = new Provider(issuer, {
      clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
      claims: {
        openid: ["sub", "preferred_username"],
        email: ["email", "email_verified"],
        profile: ["name"],
      },
      findAccount: (_: unknown, accountId: string) => ({
        accountId,
        claims: () => ({ sub: accountId, ...people.get(accountId) }),
      }),
      loadExistingGrant: async ({ oidc: { client, session } }: never) => {
        const { clientId, accountId } = {
          clientId: (client as { clientId: string }).clientId,
          accountId: (session as { accountId: string }).accountId,
        };
        const grant = new oidc.Grant({ clientId, accountId });
        grant.addOIDCScope("openid email profile");
        await grant.save();
        return grant;
      },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      cookies: { keys: ["test"] },
      jwks: { keys: Object.values(keys).map(({ jwk }) => jwk) },
    });
    oidc.use(async (context, next) => {
      if (context.path === "/token" && !provider.takesClient(context.headers.authorization)) {
        context.status = 401;
        context.body = { error: "invalid_client" };
        return;
      }
      await next();
      if (context.path === "/.well-known/openid-configuration")
        context.body = { ...context.body, ...provider.metadata };
      const { id_token: token, access_token: access } = context.body ?? {};
      if (context.path !== "/token" || typeof token !== "string") return;
      const altered = signed(provider.alter(claimsOf(token)), keys, provider.algorithm, clientSecret);
      const written = provider.rewrite(altered);
      context.body = { ...context.body, id_token: written, ...provider.reply };
      provider.secrets.push(written, String(access));
    });
    const callback = oidc.callback();
    handle = (request, response) => {
      if (!request.url?.startsWith("/interaction/")) return callback(request, response);
      const { person } = provider;
      const accountId = String(person?.sub ?? `account of ${person?.email}`);
      if (person !== undefined) people.set(accountId, person);
      const result = person === undefined ? { error: "access_denied" } : { login: { accountId } };
      void oidc.interactionFinished(request, response, result);
    };
  };
  const people = new Map<string, Claims>();

  const provider: IdentityProvider = {
    issuer,
    clientId,
    clientSecret,
    ...certified,
    behave: (habits = {}) => Object.assign(provider, certified, habits),
    asked: [],
    secrets: [clientSecret],
    redirectTo: (url) => {
      redirectUri = url;
      build();
    },
    rotateKey: () => {
      keys = newKeys();
      build();
    },
    visit: async (url) => {
      const cookies = new Map<string, string>();
      let at = new URL(url);
      while (at.href.startsWith(issuer)) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
        const response = await fetch(at, { redirect: "manual", headers: { cookie } });
        for (const line of response.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = response.headers.get("location");
        if (location === null) throw new Error(`The provider shows a page: ${await response.text()}`);
        at = new URL(location, at);
      }
      if (!provider.namesItself) at.searchParams.delete("iss");
      const code = at.searchParams.get("code");
      if (code !== null) provider.secrets.push(code);
      return at;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return provider;
};

type Key = { jwk: object; kid: string; privateKey: KeyObject };

const newKey = (alg: string, { privateKey }: { privateKey: KeyObject }): Key => {
  const kid = randomUUID();
  return { jwk: { ...privateKey.export({ format: "jwk" }), kid, alg, use: "sig" }, kid, privateKey };
};

const newKeys = () => ({
  RS256: newKey("RS256", generateKeyPairSync("rsa", { modulusLength: 2048 })),
  ES256: newKey("ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })),
});

const claimsOf = (token: string): Claims =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

/** A token with these claims and the signature of the algorithm. */
const signed = (
  claims: Claims,
  keys: ReturnType<typeof newKeys>,
  alg: Habits["algorithm"],
  clientSecret: string,
): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const { kid, privateKey } = keys[alg === "HS256" ? "RS256" : alg];
  const text = `${part({ alg, typ: "JWT", ...(alg !== "HS256" && { kid }) })}.${part(claims)}`;
  const signature =
    alg === "HS256"
      ? createHmac("sha256", clientSecret).update(text).digest()
      : sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
};
