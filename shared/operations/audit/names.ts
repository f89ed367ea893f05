import type { Item, Write } from "../../aws/table/condition.ts";
import type { Key } from "../../aws/table/keys.ts";
import { compare } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";

/** Things whose names are unique, and the rows of their names. */
type Names<Attribute extends string> = {
  /** The things that have a name. `isThere`: for a transaction, that the thing still has it. */
  claims: readonly { id: number; name: string; isThere: Write }[];
  /** By name; undefined: there is none. */
  rows: ReadonlyMap<string, Record<Attribute, number> | undefined>;
  keyOf: (name: string) => Key;
  /** Of a row: the id of the thing that has the name. */
  attribute: Attribute;
  /** What a row holds besides. */
  also?: Item;
};

/** The row of a name must hold the id of the thing that has the name, and there must be none of a name that nothing has. */
export const compareNames = async <Attribute extends string>(
  kind: string,
  { claims, rows, keyOf, attribute, also }: Names<Attribute>,
): Promise<Problem[]> => {
  const byName = Map.groupBy(claims, ({ name }) => name);
  const problems: Problem[] = [];
  for (const [name, row] of rows) {
    if (row === undefined || byName.has(name)) continue;
    const id = row[attribute];
    const says = `a name row names ${id}, which does not have the name`;
    problems.push(
      ...(await compare({ kind: `${kind} name`, id }, { key: keyOf(name), row, holds: "no row", says })),
    );
  }
  for (const { id, name, isThere } of claims) {
    const row = rows.get(name);
    const other = row?.[attribute];
    if (other !== id && byName.get(name)?.some((claim) => claim.id === other)) {
      const says = `the row of its name names ${other}`;
      const advice = `${kind} ${other} and ${kind} ${id} have one name: rename or remove one of them.`;
      problems.push({ kind, id, topic: "name", says, advice });
      continue;
    }
    const holds = { [attribute]: id, ...also };
    problems.push(...(await compare({ kind, id }, { key: keyOf(name), row, holds, given: [isThere] })));
  }
  return problems;
};
