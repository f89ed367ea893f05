/**
 * Replaces `@aws-sdk/credential-provider-node` in the bundles. Lambda gives a function its credentials as
 * environment variables; the code for all other sources of credentials would be a third of a function. The
 * provider throws when the variables are missing.
 */
export const defaultProvider = () => async () => {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = process.env;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Error("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set");
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
};
