/** What a table refuses, and what it is asked for. */
import type { Answer } from "../local/dynamodb/behaviour.ts";
import type { Body } from "../local/dynamodb/rows.ts";
import type { Observe } from "../local/harness/behaving-dynamodb.ts";

export type Watched = {
  transactions: number;
  tries: number;
  /** The most tries of one transaction. */
  mostTries: number;
  /** Refusals for a conflict, by kind of row. */
  conflicts: Map<string, number>;
};

export type Watch = { observe: Observe; take: () => Watched };

type WireKey = { pk?: { S?: string }; sk?: { S?: string } };
type Entry = Record<string, { Key?: WireKey; Item?: WireKey }>;

const keyOf = (entry: Entry | undefined): WireKey => {
  const [write] = Object.values(entry ?? {});
  return write?.Key ?? write?.Item ?? {};
};

/** A key without ids and parts. */
const kindOf = ({ pk, sk }: WireKey): string =>
  `${pk?.S} ${sk?.S}`
    .replace(/^ORG#\d+#?/, "")
    .replace(/\d+(\.\d+)?/g, "…")
    .trim();

const empty = (): Watched => ({
  transactions: 0,
  tries: 0,
  mostTries: 0,
  conflicts: new Map(),
});

export const watchTable = (): Watch => {
  let watched = empty();
  let triesOf = new Map<unknown, number>();

  return {
    observe: (operation: string, body: Body, answer: Answer) => {
      if (operation !== "TransactWriteItems") return;
      const entries = body.TransactItems as Entry[];
      const token = body.ClientRequestToken;
      const tries = (triesOf.get(token) ?? 0) + 1;
      triesOf.set(token, tries);
      watched.tries++;
      watched.transactions = triesOf.size;
      watched.mostTries = Math.max(watched.mostTries, tries);
      if (answer.status === 200) return;
      const { CancellationReasons = [] } = JSON.parse(answer.body.toString());
      const codes = (CancellationReasons as { Code: string }[]).map(({ Code }) => Code);
      for (const [index, code] of codes.entries()) {
        if (code !== "TransactionConflict") continue;
        const kind = kindOf(keyOf(entries[index]));
        watched.conflicts.set(kind, (watched.conflicts.get(kind) ?? 0) + 1);
      }
    },
    take: () => {
      const taken = watched;
      watched = empty();
      triesOf = new Map();
      return taken;
    },
  };
};
