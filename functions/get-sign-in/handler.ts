import { serve } from "../../shared/api/serve.ts";
import { isMailSetUp } from "../../shared/mail/setting.ts";
import { getSignIn } from "./endpoint.ts";

export const handler = serve(getSignIn, async () => ({ mail: isMailSetUp() }));
