/** The app, whose assembly is then changed to what MiniStack takes. */
import "../../bin/breach-monitor.ts";
import { adaptToMinistack } from "./adapt.ts";

adaptToMinistack(process.env.CDK_OUTDIR ?? "cdk.out");
