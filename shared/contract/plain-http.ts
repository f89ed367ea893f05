/**
 * Whether the service is reached by plain HTTP. Only local runs are, and say so by the variable PLAIN_HTTP:
 * no header of a request can make a deployed service give up HTTPS.
 */
export const isPlainHttp = (): boolean => process.env.PLAIN_HTTP === "true";
