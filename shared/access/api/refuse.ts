import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { answer, type Handler, identify, type Served } from "./answer.ts";

/** Makes a Lambda handler that refuses every request; `refuse` throws the refusal. */
export const refuseAll = (refuse: (event: APIGatewayProxyEvent) => never): Handler => {
  const chain = middy<Served, APIGatewayProxyResult>()
    .use(answer())
    .use(identify())
    .handler(async (event) => refuse(event));
  return (event, context) => chain(event, context);
};
