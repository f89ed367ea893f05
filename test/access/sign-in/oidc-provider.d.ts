/** The part of oidc-provider that identity-provider.ts uses; the package has no types. */
declare module "oidc-provider" {
  import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";

  type Context = {
    path: string;
    headers: IncomingHttpHeaders;
    status: number;
    body: Record<string, unknown>;
  };
  type Grant = { addOIDCScope: (scope: string) => void; save: () => Promise<string> };

  export default class Provider {
    constructor(issuer: string, configuration: object);
    Grant: new (grant: {
      clientId: string;
      accountId: string;
    }) => Grant;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }
}
