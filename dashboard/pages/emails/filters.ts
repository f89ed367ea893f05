/** The URL's values for people with open findings, the most exposed first. */
export const mostExposed = { breached: "true", order: "worst" };
