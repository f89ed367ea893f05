/** How long the workers of a job may be silent, in seconds. */

/** A worker at work gives a sign of life this often, except during a step of look-ups. */
export const renewalSeconds = 3;

/** The longest step of look-ups: no worker at work is silent for longer. */
export const lookUpStepSeconds = 30;

/** After this long without a sign of life the sweep wakes another worker. */
export const silenceSeconds = 2 * lookUpStepSeconds;
