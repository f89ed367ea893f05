import type { APIGatewayProxyEvent } from "aws-lambda";
import { Refusal } from "../../contract/errors.ts";

const maximumBodyBytes = 1024 * 1024;

/** The JSON object of a request. Refuses `tooLarge`, and `invalidInput` for anything else. */
export const bodyOf = (event: APIGatewayProxyEvent): Record<string, unknown> => {
  const bytes = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > maximumBodyBytes) throw new Refusal("tooLarge");
  const text = bytes.toString("utf8");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refusal("invalidInput", { error: "The request body is not JSON" });
  }
  // API Gateway puts U+FFFD in place of bytes that are not UTF-8, such as PowerShell's ISO 8859-1.
  if (text.includes("\ufffd")) {
    throw new Refusal("invalidInput", { error: "The request body is not UTF-8: a character is damaged" });
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Refusal("invalidInput", { error: "The request body must be a JSON object" });
  }
  return body as Record<string, unknown>;
};
