/** The app, whose assembly then leaves out what MiniStack does not know. */
import "../../bin/breach-monitor.ts";
import { leaveOutUnknown } from "./deployment.ts";

leaveOutUnknown(process.env.CDK_OUTDIR ?? "cdk.out");
