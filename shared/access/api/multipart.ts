import type { APIGatewayProxyEvent } from "aws-lambda";
import busboy from "busboy";
import type { Upload } from "../../contract/endpoint.ts";
import { Refusal } from "../../contract/errors.ts";
import { anyOf } from "../../contract/text.ts";

/** Room for what surrounds the file: boundaries, part headers, and fields, which are ignored. */
const maximumEnvelopeBytes = 64 * 1024;

const maximumFields = 20;

/**
 * The file of a multipart/form-data body. Refuses `fileTooLarge`. Refuses `invalidInput` unless the form is
 * well-formed and complete. It must have exactly one file, not empty, in the declared part and with a
 * declared extension.
 */
export const readUpload = async (event: APIGatewayProxyEvent, upload: Upload): Promise<Buffer> => {
  const { body, isBase64Encoded } = event;
  const form = Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8");
  if (form.length > upload.maximumBytes + maximumEnvelopeBytes) throw new Refusal("fileTooLarge");
  const { name, bytes } = await fileOf(form, contentTypeOf(event), upload);
  if (!upload.extensions.some((extension) => name.toLowerCase().endsWith(extension))) {
    throw new Refusal("invalidInput", {
      error: `${upload.field}: must be saved as CSV or text, with a name that ends in ${anyOf(upload.extensions)}`,
    });
  }
  if (bytes.length === 0) throw new Refusal("invalidInput", { error: `${upload.field}: is empty` });
  return bytes;
};

const contentTypeOf = (event: APIGatewayProxyEvent): string =>
  Object.entries(event.headers ?? {}).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";

type UploadedFile = { name: string; bytes: Buffer };

/** Parses the form and enforces its limits while parsing; rejects with the first problem. */
const fileOf = (form: Buffer, contentType: string, upload: Upload): Promise<UploadedFile> =>
  new Promise((resolve, reject) => {
    const refuse = (error: string) => reject(new Refusal("invalidInput", { error }));
    const malformed = () => refuse("The request body is not well-formed multipart/form-data");

    const parser = parserFor(contentType, upload);
    if (parser === undefined) {
      refuse("The request body must be multipart/form-data with a boundary");
      return;
    }
    let file: UploadedFile | undefined;
    parser.on("file", (field, stream, { filename }) => {
      const chunks: Buffer[] = [];
      stream.on("error", malformed);
      stream.on("limit", () => reject(new Refusal("fileTooLarge")));
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (field === upload.field) file = { name: filename ?? "", bytes: Buffer.concat(chunks) };
      });
    });
    parser.on("filesLimit", () => refuse("There must be one file only"));
    const tooMany = () => refuse("There are too many fields beside the file");
    parser.on("fieldsLimit", tooMany);
    parser.on("partsLimit", tooMany);
    parser.on("error", malformed);
    parser.on("close", () => {
      if (file === undefined) refuse(`There must be a file in a part named ${upload.field}`);
      else resolve(file);
    });
    parser.end(form);
  });

const parserFor = (contentType: string, upload: Upload): busboy.Busboy | undefined => {
  // busboy also parses application/x-www-form-urlencoded.
  if (!/^multipart\/form-data\s*;/i.test(contentType)) return undefined;
  try {
    return busboy({
      headers: { "content-type": contentType },
      defParamCharset: "utf8",
      // `fileSize` and `parts` are one more than allowed: busboy reports them as exceeded when they are
      // reached. `parts` also counts parts without a Content-Disposition, which are neither files nor fields.
      limits: {
        fileSize: upload.maximumBytes + 1,
        files: 1,
        fields: maximumFields,
        parts: 1 + maximumFields + 1,
      },
    });
  } catch {
    return undefined;
  }
};
