import { InvalidOption, type Options } from "./options.ts";

/** An OpenID Connect provider, as the options tell of it. */
export type IdentityProvider = {
  issuer: string;
  clientId: string;
  name: string;
  emailClaim: string | undefined;
  join: "member" | undefined;
  /** The name of the parameter with this service's secret at the provider. Operators make it. */
  clientSecretParameter: string;
};

const options = ["oidcIssuer", "oidcClientId", "oidcName", "oidcEmailClaim", "oidcJoin"] as const;

/** Undefined without one of its options. Throws if one of them needs another. */
export function readIdentityProvider(name: string, chosen: Options): IdentityProvider | undefined {
  const first = options.find((option) => chosen[option] !== undefined);
  if (first === undefined) return undefined;
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcName, oidcEmailClaim, oidcJoin } = chosen;
  if (issuer === undefined) throw new InvalidOption(`${first} needs oidcIssuer too`);
  if (clientId === undefined) throw new InvalidOption(`${first} needs oidcClientId too`);
  return {
    issuer,
    clientId,
    name: oidcName ?? "single sign-on",
    emailClaim: oidcEmailClaim,
    join: oidcJoin,
    clientSecretParameter: `/breach-monitor/${name}/oidc-client-secret`,
  };
}
