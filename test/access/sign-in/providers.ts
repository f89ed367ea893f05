/**
 * What providers send and want, from their documents and from public reports (`owner/repository#number`). Nobody has
 * tried the service with an account at one of them.
 */
import type { Habits } from "./identity-provider.ts";

type Claims = Record<string, unknown>;
type Options = { OIDC_EMAIL_CLAIM?: string; OIDC_REQUIRE?: string };

/** Changes of what the provider does, and the reason in the log with which the service then refuses. */
type Refused = { who: string; idToken?: Claims; userInfo?: Claims; options?: Options; reason: string } & Pick<
  Partial<Habits>,
  "algorithm"
>;

export type ProviderRow = {
  /** The heading in docs/identity-providers.md. */
  name: string;
  /** As the provider names itself. */
  issuer: string;
  /** Of its discovery document. Undefined: it is not there. */
  methods: string[] | undefined;
  algorithms: string[];
  metadata?: Claims;
  /** Where it takes the client's secret, if an app there has the settings that it begins with. */
  takes: "either" | "header" | "body" | "header as it stands, or body";
  namesItself?: true;
  sub: string;
  /** Claims of the ID token besides those that each has. */
  idToken: Claims;
  /** Undefined: it has no UserInfo endpoint, or says nothing more there. */
  userInfo?: Claims;
  /** The service's options for this provider. */
  options?: Options;
  refused: Refused[];
  reports: string[];
};

const email = "ada@demo.example";
const [basic, post] = ["client_secret_basic", "client_secret_post"];

export const providers: readonly ProviderRow[] = [
  {
    name: "Google Workspace",
    issuer: "https://accounts.google.com",
    methods: [post, basic],
    algorithms: ["RS256"],
    takes: "header as it stands, or body",
    // Without saying so in its discovery document.
    namesItself: true,
    metadata: { authorization_response_iss_parameter_supported: undefined },
    sub: "110169484474386276334",
    idToken: { email, email_verified: true, hd: "demo.example" },
    options: { OIDC_REQUIRE: "hd=demo.example" },
    refused: [
      {
        who: "a private account with the address",
        idToken: { hd: undefined },
        reason: "claims: oidcRequire hd",
      },
      { who: "another company", idToken: { hd: "other.example" }, reason: "claims: oidcRequire hd" },
    ],
    reports: ["openiddict/openiddict-core#2428", "skipper: its copy of the discovery document"],
  },
  {
    name: "Microsoft Entra ID",
    issuer: "https://login.microsoftonline.com/TENANT_ID/v2.0",
    methods: [post, "private_key_jwt", basic],
    algorithms: ["RS256"],
    takes: "header as it stands, or body",
    sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
    idToken: { preferred_username: email, tid: "9188040d-6c67-4c5b-b112-36a304b66dad", acct: 0 },
    userInfo: { email },
    options: { OIDC_EMAIL_CLAIM: "preferred_username", OIDC_REQUIRE: "acct=0" },
    refused: [
      { who: "anybody without oidcEmailClaim", options: {}, reason: "claims: email_verified absent" },
      {
        who: "a guest of the tenant",
        idToken: { preferred_username: "ada@partner.example", acct: 1 },
        reason: "claims: oidcRequire acct",
      },
      {
        who: "anybody while the app lacks the claim",
        idToken: { acct: undefined },
        reason: "claims: oidcRequire acct",
      },
      {
        who: "an address that a mapped claim denies, as text",
        idToken: { email_verified: "false" },
        reason: "claims: email_verified false",
      },
    ],
    reports: [
      "screentinker/screentinker#256",
      "omnigent-ai/omnigent#2222",
      "chirpstack/chirpstack#302",
      "Azure-Samples/active-directory-java-webapp-openidconnect#12",
    ],
  },
  {
    name: "Okta",
    issuer: "https://acme.okta.com",
    methods: [basic, post, "client_secret_jwt", "private_key_jwt", "none"],
    algorithms: ["RS256"],
    takes: "either",
    sub: "00u1a2b3c4D5E6F7g8h9",
    // Its own authorization server tells in the ID token that there is an address, and only UserInfo more of it.
    idToken: { email, preferred_username: email },
    userInfo: { email, email_verified: true },
    refused: [
      {
        who: "people of a directory who never confirmed their address to Okta",
        userInfo: { email, email_verified: false },
        reason: "claims: email_verified false",
      },
    ],
    reports: ["UsefulSoftwareCo/executor#1972", "sandbox-quantum/switch#387", "ubicloud/ubicloud#3583"],
  },
  {
    name: "Keycloak",
    issuer: "https://keycloak.acme.com/realms/acme",
    methods: ["private_key_jwt", basic, post, "tls_client_auth", "client_secret_jwt"],
    algorithms: [
      "PS384",
      "RS384",
      "EdDSA",
      "ES384",
      "HS256",
      "HS512",
      "ES256",
      "RS256",
      "HS384",
      "ES512",
      "PS256",
    ],
    metadata: { prompt_values_supported: ["none", "login", "consent"] },
    takes: "either",
    namesItself: true,
    sub: "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    idToken: { email, email_verified: true, preferred_username: "ada" },
    refused: [
      {
        who: "people whom an admin made without marking the address as verified",
        idToken: { email_verified: false },
        reason: "claims: email_verified false",
      },
    ],
    reports: ["bretzel-app/crumbs#80", "keycloak/keycloak#42064"],
  },
  {
    name: "Authentik",
    issuer: "https://authentik.acme.com/application/o/breach-monitor/",
    methods: [post, basic],
    algorithms: ["RS256"],
    takes: "either",
    sub: "c8a3e5b1f0d94b7e8a6c2d1e0f9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a",
    // With a scope mapping of one's own.
    idToken: { email, email_verified: true, preferred_username: "ada" },
    refused: [
      {
        who: "everybody by the scope mapping that it has since 2025.10",
        idToken: { email_verified: false },
        reason: "claims: email_verified false",
      },
      { who: "everybody without a signing key", algorithm: "HS256", reason: "token: algorithm HS256" },
    ],
    reports: ["goauthentik/authentik#16205", "goauthentik/authentik#17942", "warp-tech/warpgate#1711"],
  },
  {
    name: "Auth0",
    issuer: "https://acme.eu.auth0.com/",
    methods: [basic, post, "private_key_jwt"],
    algorithms: ["HS256", "RS256", "PS256"],
    takes: "body",
    sub: "auth0|507f1f77bcf86cd799439020",
    idToken: { email, email_verified: true },
    refused: [
      {
        who: "an address that nobody confirmed",
        idToken: { email_verified: false },
        reason: "claims: email_verified false",
      },
      {
        who: "everybody, if the app signs with its secret",
        algorithm: "HS256",
        reason: "keys: algorithm HS256",
      },
    ],
    reports: ["auth0/docs#10141", "auth0/docs#9087"],
  },
  {
    name: "Ping",
    issuer: "https://auth.pingone.eu/ENVIRONMENT_ID/as",
    methods: [basic, post, "client_secret_jwt", "private_key_jwt", "none"],
    algorithms: ["RS256"],
    metadata: { prompt_values_supported: ["none", "login"] },
    // An app of PingOne takes the way that is set for it alone.
    takes: "header",
    sub: "0f7c1fdc-3b77-4d7c-8f2a-5b9a0cf3a6ad",
    idToken: {},
    userInfo: { email },
    options: { OIDC_EMAIL_CLAIM: "email" },
    refused: [
      { who: "anybody without oidcEmailClaim", options: {}, reason: "claims: email_verified absent" },
      {
        who: "anybody, if the app has no attribute for the address",
        userInfo: {},
        reason: "claims: email absent",
      },
    ],
    reports: [
      "PingOne: token endpoint authentication methods",
      "PingOne for Enterprise: integrating an OIDC application",
    ],
  },
  {
    name: "Zitadel",
    issuer: "https://acme-a1b2c3.eu1.zitadel.cloud",
    methods: ["none", basic, post, "private_key_jwt"],
    algorithms: ["EdDSA", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512"],
    takes: "either",
    sub: "263932904613216259",
    // Of the project and its apps too.
    idToken: { aud: ["CLIENT_ID", "264080136108834819@acme", "264076946105696259"], azp: "CLIENT_ID" },
    userInfo: { email, email_verified: true, preferred_username: "ada@acme.zitadel.cloud" },
    refused: [
      {
        who: "an ID token that another app of the project got",
        idToken: { azp: "264080136108834819@acme" },
        reason: "token: azp",
      },
      {
        who: "an address that nobody confirmed",
        userInfo: { email, email_verified: false },
        reason: "claims: email_verified false",
      },
    ],
    reports: ["zitadel/zitadel discussion 7920", "zitadel/oidc#139"],
  },
  {
    name: "Amazon Cognito",
    issuer: "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_a1B2c3D4e",
    methods: [basic, post],
    algorithms: ["RS256"],
    takes: "either",
    sub: "f2a4b6c8-1234-4abc-9def-0123456789ab",
    idToken: { "cognito:username": "ada" },
    // "True" if a program has written it so.
    userInfo: { email, email_verified: "true", username: "ada" },
    refused: [
      {
        who: "people of another provider behind it, unless their attribute is mapped",
        userInfo: { email, email_verified: "false" },
        reason: "claims: email_verified false",
      },
    ],
    reports: [
      "zitadel/oidc#139",
      "pomerium/pomerium#792",
      "aws-amplify/amplify-js#8205",
      "aws-amplify/amplify-js#5117",
    ],
  },
  {
    name: "JumpCloud",
    issuer: "https://oauth.id.jumpcloud.com/",
    methods: [post, basic, "private_key_jwt", "none"],
    algorithms: ["RS256"],
    // It is built on Hydra, which takes from each client the way that is set for it alone.
    takes: "header",
    sub: "615c83c2d032224b3a877541",
    idToken: { email, email_verified: "true", jc_org: "5f8e57842cd2850567c09b9a" },
    options: { OIDC_REQUIRE: "jc_org=5f8e57842cd2850567c09b9a" },
    refused: [
      {
        who: "people of another organization at JumpCloud",
        idToken: { jc_org: "000057842cd2850567c09b9a" },
        reason: "claims: oidcRequire jc_org",
      },
    ],
    reports: [
      "knadh/listmonk#2237",
      "jumpserver/jumpserver#8165",
      "cirrusidentity/simplesamlphp-module-authoauth2#50",
    ],
  },
];
