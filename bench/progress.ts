import type { Context } from "./arm.ts";

/** Shows progress on a stream: on a terminal in a line that is written over, else in a line for every tenth. */
export const progressOn = (stream: NodeJS.WriteStream): Context["progress"] => {
  let last = "";
  return (text, done, of) => {
    const part = done === undefined || of === undefined || of === 0 ? undefined : Math.min(1, done / of);
    const percent = part === undefined ? undefined : Math.floor(stream.isTTY ? 100 * part : 10 * part);
    const line = percent === undefined ? text : `${text}: ${stream.isTTY ? percent : 10 * percent} %`;
    if (line === last) return;
    stream.write(stream.isTTY ? `\r${line}\x1b[K` : `${line}\n`);
    last = line;
  };
};
