import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { withTimeOfPeople } from "../../shared/aws/table/patience.ts";
import { answer } from "../../shared/people/scim/serve.ts";
import { scim } from "./endpoint.ts";

export const handler = (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> =>
  withTimeOfPeople(scim.timeoutSeconds, () => answer(event));
