/** A certified OpenID Connect provider on the loopback, whose people sign in without a page, and which can misbehave. */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

type Claims = Record<string, unknown>;

export type IdentityProvider = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Who signs in next; undefined: whoever it is refuses. */
  person: Claims | undefined;
  /** Changes the claims of ID tokens, which are signed again. */
  alter: ((claims: Claims) => Claims) | undefined;
  /** Changes ID tokens as they are written. */
  rewrite: ((token: string) => string) | undefined;
  /** What discovery says besides what it would say; undefined values are left out of it. */
  metadata: Record<string, unknown>;
  /** Whether the token endpoint takes a request with this header; undefined: the client's secret is in the body. */
  takesClient: (authorization: string | undefined) => boolean;
  /** Answers requests of paths that it matches by itself. */
  answer: { path: RegExp; by: (request: IncomingMessage, response: ServerResponse) => void } | undefined;
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

export const startIdentityProvider = async (): Promise<IdentityProvider> => {
  const clientId = "breach-monitor";
  // Parts of it are encoded in the header of RFC 6749 (2.3.1).
  const clientSecret = `client-secret~${randomUUID()}+/%`;
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end();
  let redirectUri = "http://127.0.0.1/none";
  let key = newKey();
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
      jwks: { keys: [key.jwk] },
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
      const altered = provider.alter === undefined ? token : signed(provider.alter(claimsOf(token)), key);
      context.body.id_token = provider.rewrite?.(altered) ?? altered;
      provider.secrets.push(String(context.body.id_token), String(access));
    });
    const callback = oidc.callback();
    handle = (request, response) => {
      if (!request.url?.startsWith("/interaction/")) return callback(request, response);
      const { person } = provider;
      const accountId = randomUUID();
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
    person: undefined,
    alter: undefined,
    rewrite: undefined,
    metadata: {},
    takesClient: () => true,
    answer: undefined,
    asked: [],
    secrets: [clientSecret],
    redirectTo: (url) => {
      redirectUri = url;
      build();
    },
    rotateKey: () => {
      key = newKey();
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

const newKey = (): Key => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const kid = randomUUID();
  return {
    jwk: { ...privateKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" },
    kid,
    privateKey,
  };
};

const claimsOf = (token: string): Claims =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

/** A token with these claims and the key's signature. */
const signed = (claims: Claims, { kid, privateKey }: Key): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", typ: "JWT", kid })}.${part(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
};
