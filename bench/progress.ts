import type { Context } from "./arm.ts";

const barCharacters = 30;

/**
 * Shows progress on a stream: on a terminal as a bar that redraws itself, otherwise as one line for every
 * tenth.
 */
export const progressOn = (stream: NodeJS.WriteStream): Context["progress"] => {
  let last = "";
  return (text, done, of) => {
    if (stream.isTTY) {
      const part = done === undefined || of === undefined || of === 0 ? undefined : Math.min(1, done / of);
      const line = part === undefined ? text : `${bar(part)} ${Math.floor(part * 100)} %  ${text}`;
      // The bar of one text stays in its line; another text begins a new line.
      stream.write(last !== text && last !== "" ? `\n${line}\x1b[K` : `\r${line}\x1b[K`);
      last = text;
      return;
    }
    const tenth =
      done === undefined || of === undefined || of === 0 ? undefined : Math.floor((10 * done) / of);
    const line = tenth === undefined ? text : `${text}: ${tenth * 10} %`;
    if (line !== last) stream.write(`${line}\n`);
    last = line;
  };
};

const bar = (part: number): string => {
  const filled = Math.round(part * barCharacters);
  return `[${"#".repeat(filled)}${"-".repeat(barCharacters - filled)}]`;
};
