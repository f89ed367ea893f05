/** How AWS services refuse a caller. */
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";

/** Thrown where the front answers by itself. `code` is the error's name in an AWS SDK. */
export class Refused extends Error {
  readonly service: string;
  readonly code: string;
  constructor(service: string, code: string, message: string) {
    super(message);
    this.service = service;
    this.code = code;
  }
}

/** Statuses of services that do not refuse a caller with 400. */
const statuses: Record<string, number> = { scheduler: 403, ses: 403, sqs: 403 };

/** Answers in AWS's form. An error that is not `Refused` becomes 503, which an AWS SDK retries. */
export const refuse = (response: ServerResponse, error: Error): void => {
  const [service, code, status] =
    error instanceof Refused
      ? [error.service, error.code, statuses[error.service] ?? 400]
      : ["local", "ServiceUnavailable", 503];
  response.writeHead(status, {
    "content-type":
      service === "dynamodb" || service === "sqs" ? "application/x-amz-json-1.0" : "application/json",
    "x-amzn-errortype": code,
    "x-amzn-requestid": randomUUID(),
  });
  const { message } = error;
  response.end(JSON.stringify({ __type: `com.amazon.coral.service#${code}`, message, Message: message }));
};
