import type { Logger } from "@aws-lambda-powertools/logger";

/** Shorter secrets can be guessed from one signed delivery. The dashboard refuses them. */
const recommendedCharacters = 16;

/** Notes in the log that a client has set a short secret, which the API's contract allows. Never logs the secret. */
export const warnOfShortSecret = (
  logger: Logger,
  channel: { organizationId: number; channelId: number },
  secret: string | undefined,
): void => {
  if (secret === undefined || secret === "" || secret.length >= recommendedCharacters) return;
  logger.warn("short webhook secret", channel);
};
