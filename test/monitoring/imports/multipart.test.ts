import type { APIGatewayProxyEvent } from "aws-lambda";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readUpload } from "../../../shared/access/api/multipart.ts";
import type { Upload } from "../../../shared/contract/endpoint.ts";
import { Refusal } from "../../../shared/contract/errors.ts";

const upload: Upload = { field: "file", extensions: [".csv"], maximumBytes: 1000 };

const read = (form: Buffer, contentType = "multipart/form-data; boundary=x"): Promise<Buffer> => {
  const event = {
    headers: { "Content-Type": contentType },
    body: form.toString("base64"),
    isBase64Encoded: true,
  };
  return readUpload(event as unknown as APIGatewayProxyEvent, upload);
};

const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n';
const formOf = (content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(head), content, Buffer.from("\r\n--x--\r\n")]);

const isRefused = async (reading: Promise<Buffer>): Promise<void> => {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error !== undefined) expect(error).toBeInstanceOf(Refusal);
};

test("any bytes arrive unchanged up to the limit, and one byte more is refused", async () => {
  const content = fc.uint8Array({ minLength: 1, maxLength: 1000 });
  await fc.assert(
    fc.asyncProperty(content, async (bytes) => {
      fc.pre(!Buffer.from(bytes).includes("\r\n--x"));
      expect((await read(formOf(bytes))).equals(bytes)).toBe(true);
    }),
  );
  expect(await read(formOf(Buffer.alloc(1000)))).toHaveLength(1000);
  await expect(read(formOf(Buffer.alloc(1001)))).rejects.toMatchObject({ refusal: "fileTooLarge" });
});

test("twenty parts of any kind may stand beside the file, and one more is refused", async () => {
  const form = formOf(Buffer.from("ada@demo.example"));
  for (const part of [
    '--x\r\nContent-Disposition: form-data; name="field"\r\n\r\n1\r\n',
    "--x\r\nX: y\r\n\r\n1\r\n",
  ]) {
    const withParts = (count: number) => read(Buffer.concat([Buffer.from(part.repeat(count)), form]));
    expect((await withParts(20)).toString()).toBe("ada@demo.example");
    await expect(withParts(21)).rejects.toMatchObject({
      refusal: "invalidInput",
      message: "There are too many fields beside the file",
    });
  }
});

test("a damaged form is read or refused, and never hangs", async () => {
  const form = formOf(Buffer.from("ada@demo.example"));
  const splice = fc.record({
    at: fc.nat(form.length),
    removed: fc.nat(20),
    added: fc.oneof(
      fc.uint8Array({ maxLength: 20 }).map((each) => Buffer.from(each)),
      fc
        .constantFrom(
          "\r\n",
          "--x",
          "--x--",
          "\r\n\r\n",
          ";",
          '"',
          "filename*=utf-8''%ff",
          "name*=",
          "\0",
          ":",
        )
        .map((each) => Buffer.from(each)),
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(splice, { minLength: 1, maxLength: 4 }), async (splices) => {
      let damaged = form;
      for (const { at, removed, added } of splices) {
        damaged = Buffer.concat([damaged.subarray(0, at), added, damaged.subarray(at + removed)]);
      }
      await isRefused(read(damaged));
    }),
    { numRuns: 3000 },
  );
});

test("a form with any content type is read or refused", async () => {
  const form = formOf(Buffer.from("ada@demo.example"));
  const type = fc.oneof(
    fc.string(),
    fc.string().map((boundary) => `multipart/form-data; boundary=${boundary}`),
    fc.string().map((rest) => `multipart/form-data;${rest}`),
  );
  await fc.assert(
    fc.asyncProperty(type, (given) => isRefused(read(form, given))),
    { numRuns: 1000 },
  );
  expect((await read(form, 'Multipart/Form-Data ; charset=utf-8; Boundary="x"')).toString()).toBe(
    "ada@demo.example",
  );
});
