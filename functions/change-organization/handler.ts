import { serve } from "../../shared/access/api/serve.ts";
import { schedule } from "../../shared/access/organizations/scan-schedule.ts";
import * as settings from "../../shared/access/organizations/settings.ts";
import { changeOrganization } from "./endpoint.ts";

const stack = {
  ScheduleGroupName: process.env.SCHEDULE_GROUP_NAME ?? "",
  ScheduledScanFunctionArn: process.env.SCHEDULED_SCAN_FUNCTION_ARN ?? "",
  ScheduledScanRoleArn: process.env.SCHEDULED_SCAN_ROLE_ARN ?? "",
  DeadLettersQueueArn: process.env.DEAD_LETTERS_QUEUE_ARN ?? "",
};

export const handler = serve(changeOrganization, async ({ org, actor, body }) => {
  await settings.change(org, body, actor, (every) => schedule(org, every, stack));
  return { success: true };
});
