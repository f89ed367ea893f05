/** The template of a synthesized stack, and what its references depend on besides the template itself. */

export type TemplateResource = { Type: string; Properties?: Record<string, unknown> };

export type Template = {
  Resources: Record<string, TemplateResource>;
  /** None of this service's: with some, the template is refused. */
  Conditions?: Record<string, unknown>;
  Outputs?: Record<string, { Value: unknown }>;
};

export type Environment = {
  region: string;
  /** Twelve digits. */
  accountId: string;
};

export type Stack = Environment & {
  name: string;
  template: Template;
  /** The id of the stack's REST API. */
  apiId: string;
  /** Takes the place of the API's origin on AWS. Without a slash at its end. */
  apiOrigin: string;
  /** Without a slash at its end. A queue's URL is this, a slash and the queue's name. */
  queueBaseUrl: string;
};

/** The origin of the stack's REST API on AWS. */
export const awsApiOrigin = ({ apiId, region }: Pick<Stack, "apiId" | "region">): string =>
  `https://${apiId}.execute-api.${region}.amazonaws.com`;

/** A resource as the template declares it, with unresolved properties. Throws for an unknown logical id. */
export const declared = ({ template }: Stack, logicalId: string): Required<TemplateResource> => {
  const resource = template.Resources[logicalId];
  if (resource === undefined) throw new Error(`The template has no resource ${logicalId}`);
  return { Type: resource.Type, Properties: resource.Properties ?? {} };
};
