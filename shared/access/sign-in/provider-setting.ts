/** The identity provider that the deployment is set up with (lib/options.ts). */

export type ProviderSetting = { issuer: URL; clientId: string; name: string };

/** Undefined: people sign in by link only. */
export const providerSetting = (): ProviderSetting | undefined => {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_NAME: name } = process.env;
  if (!issuer || !clientId || !name) return undefined;
  return { issuer: new URL(issuer), clientId, name };
};
