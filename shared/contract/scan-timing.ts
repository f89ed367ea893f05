/** How long a scan's workers may be silent, in seconds. */

/** A worker at work renews the scan lock this often, except during a step of look-ups. */
export const renewalSeconds = 3;

/** The longest step of look-ups: no worker at work leaves the scan lock without a renewal for longer. */
export const lookUpStepSeconds = 30;

/** After this long without a renewal the sweep takes the workers of a scan for dead and wakes a planner. */
export const silenceSeconds = 2 * lookUpStepSeconds;
