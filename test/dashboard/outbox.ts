import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { readLocalStack } from "../service/local-stack.ts";

/** The mails to an address that the shared service has sent so far, oldest first. */
export const mailsTo = async (address: string): Promise<string[]> => {
  const { dataDirectory } = await readLocalStack(inject("apiUrl"));
  const outbox = join(dataDirectory, "outbox");
  const names = (await readdir(outbox)).filter((name) => name.endsWith(".eml")).sort();
  const messages = await Promise.all(names.map((name) => readFile(join(outbox, name), "utf8")));
  return messages.filter((message) =>
    new RegExp(`^To: ${address.replaceAll(".", "\\.")}\r?$`, "m").test(message),
  );
};

/** The url of the sign-in link in a mail. */
export const linkIn = (mail: string): URL => new URL(/^http\S+\/sign-in#\S+/m.exec(mail)?.[0] ?? "");
