/** What the identity provider's claims have to say of a person before their address is taken. */
import { ProviderFailure, wordOf } from "./provider-failure.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** The claim that holds the address. An operator who names one answers for it: some providers verify no address. */
const addressClaim = () => process.env.OIDC_EMAIL_CLAIM || "email";
const isAnsweredFor = () => Boolean(process.env.OIDC_EMAIL_CLAIM);

/** Whether the claims tell the address, and whether it is verified. */
export const tellAddress = (claims: Claims): boolean =>
  Object.hasOwn(claims, addressClaim()) && (isAnsweredFor() || Object.hasOwn(claims, "email_verified"));

/** Some providers write booleans as text: UserInfo of Cognito says "true", or "True" as a program has set it. */
const isTrue = (value: unknown): boolean =>
  value === true || (typeof value === "string" && value.toLowerCase() === "true");

/**
 * The address that the provider, or the operator, vouches for. The last of the sources that has one tells whether it is
 * verified, and no source may deny it. Refuses `addressUnverified`.
 */
export const addressOf = (sources: readonly Claims[]): string => {
  const unverified = (reason: string) => new ProviderFailure("addressUnverified", reason);
  const verdicts = sources.filter((claims) => Object.hasOwn(claims, "email_verified"));
  const denial = verdicts.find((claims) => !isTrue(claims.email_verified));
  if (denial !== undefined) throw unverified(`email_verified ${wordOf(denial.email_verified)}`);
  const claim = addressClaim();
  const source = sources.findLast((claims) => Object.hasOwn(claims, claim));
  if (source === undefined) throw unverified(`${claim} absent`);
  if (!isAnsweredFor() && !verdicts.includes(source)) throw unverified("email_verified absent");
  const address = source[claim];
  if (typeof address !== "string") throw unverified(`${claim} is no text`);
  return address;
};

/** Refuses `claimRequired` to whoever lacks the claim that the operator requires, such as "hd=acme.com". */
export const checkRequired = (claims: Claims): void => {
  const { OIDC_REQUIRE: required } = process.env;
  if (!required) return;
  const [claim = "", ...value] = required.split("=");
  const held = Object.hasOwn(claims, claim) ? [claims[claim]].flat() : [];
  if (!held.some((each) => typeof each !== "object" && String(each) === value.join("=")))
    throw new ProviderFailure("claimRequired", `oidcRequire ${claim}`);
};
