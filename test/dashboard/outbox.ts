import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { eventually } from "../service/eventually.ts";
import { readLocalStack } from "../service/local-stack.ts";

/** By path; a mail does not change. */
const texts = new Map<string, Promise<string>>();

const textOf = (path: string): Promise<string> => {
  const text = texts.get(path) ?? readFile(path, "utf8");
  texts.set(path, text);
  return text;
};

/** The mails to an address that a service has sent so far, oldest first. */
export const mailsTo = async (address: string, apiUrl = inject("apiUrl")): Promise<string[]> => {
  const { dataDirectory } = await readLocalStack(apiUrl);
  const outbox = join(dataDirectory, "outbox");
  const names = (await readdir(outbox)).filter((name) => name.endsWith(".eml")).sort();
  const messages = await Promise.all(names.map((name) => textOf(join(outbox, name))));
  const header = new RegExp(`^To: ${address.replaceAll(".", "\\.")}\r?$`, "m");
  return messages.filter((message) => header.test(message));
};

/** Waits until there are as many mails to an address. */
export const untilMailed = (address: string, count = 1, apiUrl?: string): Promise<string[]> =>
  eventually(
    () => mailsTo(address, apiUrl),
    ({ length }) => length >= count,
  );

/** The url of the sign-in link in a mail. */
export const linkIn = (mail = ""): URL => new URL(/^http\S+\/sign-in#\S+/m.exec(mail)?.[0] ?? "");
