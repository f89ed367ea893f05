/** How long one invocation acknowledges findings before it leaves the rest to the next, in seconds. */
export const acknowledgementTimeoutSeconds = 300;

/** A worker at work renews the lock this often, in seconds. */
export const acknowledgementRenewalSeconds = 3;
