import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";

/** What a local service tells about the stack that it runs. */
export type LocalStack = {
  /** The stack's CloudFormation outputs. */
  outputs: Record<string, string>;
  /** Where the service keeps its data, its logs and the e-mails that it sent. */
  dataDirectory: string;
};

export const readLocalStack = async (apiUrl: string): Promise<LocalStack> => {
  const reply = await fetch(new URL("/.local/stack", apiUrl));
  return (await reply.json()) as LocalStack;
};

/** Everything that the functions of a service have printed. */
export const readLogs = async (apiUrl = inject("apiUrl")): Promise<string> => {
  const directory = join((await readLocalStack(apiUrl)).dataDirectory, "logs");
  const files = await readdir(directory);
  return (await Promise.all(files.map((file) => readFile(join(directory, file), "utf8")))).join("\n");
};
