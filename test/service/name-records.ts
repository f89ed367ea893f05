import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import type { Answer } from "../alerting/name-server.ts";

/** The answer that a folder holds for a name. */
export const readRecord = (directory: string, name: string): Answer => {
  try {
    return JSON.parse(readFileSync(join(directory, name), "utf8")) as Answer;
  } catch {
    return "no such name";
  }
};

/** What the name server of the shared service answers, by name. Other test files use other names. */
export const records = {
  set: (name: string, answer: Answer): void =>
    writeFileSync(join(inject("records"), name), JSON.stringify(answer)),
  delete: (name: string): void => rmSync(join(inject("records"), name)),
};
