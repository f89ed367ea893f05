import { serve } from "../../shared/access/api/serve.ts";
import { providerSetting } from "../../shared/access/sign-in/provider-setting.ts";
import { isMailSetUp } from "../../shared/aws/mail/setting.ts";
import { getSignIn } from "./endpoint.ts";

export const handler = serve(getSignIn, async () => {
  const provider = providerSetting();
  return {
    mail: isMailSetUp(),
    provider: provider === undefined ? null : { name: provider.name, issuer: provider.issuer.href },
  };
});
