import { serve } from "../../shared/access/api/serve.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { schedule } from "../../shared/access/organizations/scan-schedule.ts";
import { changeOrganization } from "./endpoint.ts";

const stack = {
  ScheduleGroupName: process.env.SCHEDULE_GROUP_NAME ?? "",
  ScheduledScanFunctionArn: process.env.SCHEDULED_SCAN_FUNCTION_ARN ?? "",
  ScheduledScanRoleArn: process.env.SCHEDULED_SCAN_ROLE_ARN ?? "",
  DeadLettersQueueArn: process.env.DEAD_LETTERS_QUEUE_ARN ?? "",
};

export const handler = serve(changeOrganization, ({ org, actor, body }) =>
  organizations.changeSettings(org, body, actor, (every) => schedule(org, every, stack)),
);
