/** The recordings of releases hold every kind of row and of message. */
import { expect, test } from "vitest";
import { type Key, keys, listKinds } from "../../shared/aws/table/keys.ts";
import { messages } from "../../shared/contract/messages.ts";
import { madeLately, recordings } from "./recording.ts";

/** Kinds of rows that came after the latest recording: the next one has them. */
const newKinds: readonly string[] = ["mailCopies", "operatorEntry", "organization"];

const all = recordings.map((name) => madeLately(name, "http://127.0.0.1:9"));
const keysOfRows = all.flatMap(({ rows }) =>
  rows.map(({ pk, sk }) => ({ pk: pk?.S ?? "", sk: sk?.S ?? "" })),
);

/** Stands for any argument of a key; `padded` puts zeros before it. */
const any = "¿" as never;

const anything = (text: string): RegExp => {
  const parts = text.split(/0*¿/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+").replace(/^ORG#\.\+/, "ORG#\\d+")}$`);
};

/** Whether some row has a key that `make` gives for some arguments, of which the last may be left out. Lists of every kind have the same rows. */
const isRecorded = (make: (...args: never[]) => Key): boolean =>
  [any, ...(listKinds as readonly unknown[] as never[])].some((second) =>
    [
      [any, second, any, any],
      [any, second],
    ].some((given) => isKeyRecorded(make(...given))),
  );

const isKeyRecorded = ({ pk, sk }: Key): boolean => {
  const [partition, sort] = [anything(pk), anything(sk)];
  const isList = listKinds.some((kind) => pk.includes(kind));
  return keysOfRows.some(
    (key) =>
      partition.test(key.pk) &&
      sort.test(key.sk) &&
      isList === listKinds.some((kind) => key.pk.includes(kind)),
  );
};

test.each(Object.keys(keys))("keys.%s", (name) => {
  expect(isRecorded(keys[name as keyof typeof keys])).toBe(!newKinds.includes(name));
});

test.each(Object.keys(messages))("messages of %s", (queue) => {
  expect(all.some((recording) => recording.messages.some((message) => message.queue === queue))).toBe(true);
});
