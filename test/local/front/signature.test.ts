import { expect, test } from "vitest";
import { readAuthorization, signatureOf } from "../../../local/front/signature.ts";

/**
 * Requests of AWS's test suite of Signature Version 4, and the example of the IAM User Guide, with their signatures.
 */
test.each([
  ["GET", "/", {}, "", "service", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
  ["POST", "/", {}, "", "service", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
  [
    "GET",
    "/?Param2=value2&Param1=value1",
    {},
    "",
    "service",
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  ],
  ["GET", "/\u1234", {}, "", "service", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"],
  [
    "POST",
    "/",
    { "content-type": "application/x-www-form-urlencoded" },
    "Param1=value1",
    "service",
    "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
  ],
  [
    "GET",
    "/?Action=ListUsers&Version=2010-05-08",
    { "content-type": "application/x-www-form-urlencoded; charset=utf-8", host: "iam.amazonaws.com" },
    "",
    "iam",
    "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
  ],
])("%s %s %j has the signature that AWS publishes", (method, url, more, body, service, signature) => {
  const headers = { host: "example.amazonaws.com", "x-amz-date": "20150830T123600Z", ...more };
  const scope = {
    date: "20150830",
    region: "us-east-1",
    service,
    signedHeaders: Object.keys(headers).sort(),
  };
  const request = { method, url, headers, body: Buffer.from(body) };
  expect(signatureOf(request, scope, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")).toBe(signature);
});

test.each([
  undefined,
  "Bearer bms_1",
  "AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=5d",
  `AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/iam, SignedHeaders=host, Signature=${"0".repeat(64)}`,
  `AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/iam/aws4, SignedHeaders=host, Signature=${"0".repeat(64)}`,
])("%s is no authorization", (header) => {
  expect(readAuthorization(header)).toBeUndefined();
});
