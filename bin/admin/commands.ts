import type { Commands } from "./command.ts";
import { channelCommands } from "./commands/channel.ts";
import { checkCommand } from "./commands/check.ts";
import { deliveryCommands } from "./commands/delivery.ts";
import { deploymentCommands } from "./commands/deployment.ts";
import { domainCommands } from "./commands/domain.ts";
import { emailCommands } from "./commands/email.ts";
import { eraseCommand } from "./commands/erase.ts";
import { findingCommands } from "./commands/finding.ts";
import { keyCommands } from "./commands/key.ts";
import { operatorLogCommands } from "./commands/operator-log.ts";
import { orgCommands } from "./commands/org.ts";
import { passkeyCommands } from "./commands/passkey.ts";
import { scanCommands } from "./commands/scan.ts";
import { sessionCommands } from "./commands/session.ts";
import { teamCommands } from "./commands/team.ts";
import { upstreamCommands } from "./commands/upstream.ts";
import { userCommands } from "./commands/user.ts";

/** Every command by its name, in the order in which help lists them. */
export const commands: Commands = {
  ...orgCommands,
  ...domainCommands,
  ...teamCommands,
  ...userCommands,
  ...sessionCommands,
  ...passkeyCommands,
  ...keyCommands,
  ...emailCommands,
  ...scanCommands,
  ...findingCommands,
  ...channelCommands,
  ...deliveryCommands,
  ...deploymentCommands,
  ...checkCommand,
  ...eraseCommand,
  ...upstreamCommands,
  ...operatorLogCommands,
};
