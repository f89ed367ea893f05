/** A worker at work renews the lock this often, in seconds. */
export const acknowledgementRenewalSeconds = 3;
