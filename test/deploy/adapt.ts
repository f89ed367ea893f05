/**
 * Changes the templates of an assembly to the features that MiniStack knows. The deployed resources stay the
 * same.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Resource = { Type: string; DependsOn?: string[]; Properties?: Record<string, unknown> };
type Operations = Record<string, unknown>;
type ApiDocument = {
  paths: Record<string, Operations>;
  "x-amazon-apigateway-gateway-responses": Record<string, Record<string, unknown>>;
};

/** MiniStack refuses a template with one, also if nothing depends on it. */
const unknownTypes = ["AWS::Logs::QueryDefinition"];

export const adaptToMinistack = (assembly: string): void => {
  for (const name of readdirSync(assembly).filter((each) => each.endsWith(".template.json"))) {
    const file = join(assembly, name);
    const template: { Resources: Record<string, Resource> } = JSON.parse(readFileSync(file, "utf8"));
    const known = Object.entries(template.Resources).filter(([, { Type }]) => !unknownTypes.includes(Type));
    template.Resources = adaptApi(Object.fromEntries(known));
    writeFileSync(file, JSON.stringify(template));
  }
};

/** Of an API's document MiniStack reads neither the extension for any method nor the gateway's own replies. */
const adaptApi = (resources: Record<string, Resource>): Record<string, Resource> => {
  const [api, { Properties = {} } = {}] =
    Object.entries(resources).find(([, { Type }]) => Type === "AWS::ApiGateway::RestApi") ?? [];
  if (api === undefined) return resources;
  const document = Properties.Body as ApiDocument;
  for (const path of Object.keys(document.paths)) document.paths[path] = nameMethods(document.paths[path]);
  const responses = Object.entries(document["x-amazon-apigateway-gateway-responses"]).map(
    ([ResponseType, { statusCode, responseParameters, responseTemplates }]) => ({
      Type: "AWS::ApiGateway::GatewayResponse",
      Properties: {
        RestApiId: { Ref: api },
        ResponseType,
        ...(statusCode !== undefined && { StatusCode: String(statusCode) }),
        ResponseParameters: responseParameters,
        ResponseTemplates: responseTemplates,
      },
    }),
  );
  const added = Object.fromEntries(responses.map((response, at) => [`GatewayResponse${at}`, response]));
  for (const { Type, DependsOn } of Object.values(resources))
    if (Type === "AWS::ApiGateway::Deployment") DependsOn?.push(...Object.keys(added));
  return { ...resources, ...added };
};

const anyMethod = "x-amazon-apigateway-any-method";
const everyMethod = ["get", "put", "post", "delete", "options", "head", "patch"];

const nameMethods = ({ [anyMethod]: operation, ...declared }: Operations = {}): Operations => ({
  ...Object.fromEntries(everyMethod.map((method) => [method, operation])),
  ...declared,
});
