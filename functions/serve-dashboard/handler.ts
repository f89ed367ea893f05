import { join } from "node:path";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { readPageFiles } from "./files.ts";
import { replyWith } from "./reply.ts";

/** The bundle lays them beside this (lib/page-bundle.ts). */
const files = readPageFiles(join(import.meta.dirname, "page"));

export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> =>
  replyWith(files, event);
