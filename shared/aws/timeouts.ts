/**
 * How long a client of AWS waits for one try of a request. By default it waits for as long as its
 * function may run.
 */
export const timeouts = { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true };

/** For what people wait for: three tries leave a function of ten seconds time to say that there is no answer. */
export const shortTimeouts = { ...timeouts, requestTimeout: 2_000 };
