import type { Client, Reply } from "../service/client.ts";

export const boundary = "----boundary7d91f2";

type Part = { name?: string; filename?: string; type?: string; content: string | Buffer };

/** A multipart/form-data body. */
export const multipart = (parts: readonly Part[], end = `--${boundary}--\r\n`): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, filename, type, content }) => {
      const disposition = [
        "Content-Disposition: form-data",
        ...(name === undefined ? [] : [`name="${name}"`]),
        ...(filename === undefined ? [] : [`filename="${filename}"`]),
      ].join("; ");
      const head = [disposition, ...(type === undefined ? [] : [`Content-Type: ${type}`])].join("\r\n");
      return [Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from("\r\n")];
    }),
    Buffer.from(end),
  ]);

export const postForm = (
  api: Client,
  raw: Buffer | string,
  contentType = `multipart/form-data; boundary=${boundary}`,
): Promise<Reply> =>
  api.request("POST", "/emails/import/preview", { raw, headers: { "content-type": contentType } });

/** Uploads a file for an import preview. */
export const preview = (api: Client, content: string | Buffer, filename = "people.csv"): Promise<Reply> =>
  postForm(api, multipart([{ name: "file", filename, type: "text/csv", content }]));
