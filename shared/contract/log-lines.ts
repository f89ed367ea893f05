/** Lines of logs that alarms look for. */

/** The sweep's, of a schedule whose work is long overdue; `schedule` names its function. */
export const silentSchedule = "schedule does not run";

/** The senders', of a delivery that waits because the config of its channel cannot be opened. */
export const channelNotOpened = "alert channel does not open";
