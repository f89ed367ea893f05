/**
 * A model of compaction that shares its code: readers, writers and folders run at the same time on rows in
 * memory. Queries go row by row, folders die between any two requests, and requests of dead folders arrive
 * late. Then each rule of docs/lists.md is broken once.
 */
import { describe, expect, test } from "vitest";
import { compactIn, type FoldStore } from "../../shared/lists/compact.ts";
import { blocksIn, type DirectoryRows, isConsistent, sectionsOf } from "../../shared/lists/directory.ts";
import { type Fold, nameOf, type OwnRow, type RareIds } from "../../shared/lists/fold.ts";

const limits = { blocks: 3, characters: 40 };
const blockCount = 12;
const groupKeys = ["a", "b", "c"];
/** Own rows of a block, in the order of a query. */
const parts = [1, 0];

/** How a rule of docs/lists.md is broken. */
type Broken =
  | "a number is taken whatever the last one is"
  | "a fold is written whatever it is by then"
  | "a row is deleted whatever its life is"
  | "a row is deleted whatever was written to it"
  | "a row that is made again has the same life"
  | "a reader believes folds that were made while it read"
  | "a reader adds what a fold and a row both hold"
  | "a reader subtracts what a fold took from another life"
  | "a folder reads after it took its number"
  | "a folder deletes rows before it writes the fold"
  | "a fold names one of the rows that it took of a block"
  | "a reader takes one own row for all of its block"
  | "a folder forgets rows that are still there"
  | "a folder takes any fold for full"
  | "rare members of another change of the fold are believed"
  | "rare members are believed although the row was written to"
  | "a write that moves as many away as it brings leaves no trace";

/** A pseudo-random generator (mulberry32), so that a failure can be repeated by its seed. */
const randomOf = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};

class Death extends Error {}

class World {
  /** Members by block: id to group key. */
  readonly members = Array.from({ length: blockCount }, () => new Map<number, string>());
  readonly own = new Map<string, OwnRow>();
  /** By name of an own row: all that was ever counted in it, folded or not. */
  readonly counted = new Map<string, Map<string, number>>();
  readonly folds = new Map<number, string>();
  readonly rare = new Map<number, { number: number; ids: RareIds }>();
  number = 0;
  wrong = 0;
  readings = 0;
  deaths = 0;
  foldsWritten = 0;
  #lives = 0;
  #nextId = 1;
  /** The newest block that has been drawn. */
  #newest = 1;
  /** Requests that have been sent and have not arrived yet. */
  readonly #requests: { arrive: () => void; notBefore: number }[] = [];
  #step = 0;
  readonly #random: (below: number) => number;
  readonly #broken: Broken | undefined;

  constructor(seed: number, broken: Broken | undefined) {
    this.#random = randomOf(seed);
    this.#broken = broken;
  }

  /** Runs one reader, two folders and a writer until `steps` requests have arrived. */
  async run(steps: number): Promise<void> {
    const forever = async (act: () => Promise<void>): Promise<void> => {
      for (;;) {
        try {
          await act();
        } catch (error) {
          if (!(error instanceof Death)) throw error;
        }
      }
    };
    for (const act of [
      () => this.#read(),
      () => this.#fold(),
      () => this.#fold(),
      () => this.#fold(),
      () => this.#write(),
    ]) {
      forever(act).catch((error) => {
        throw error;
      });
    }
    for (; this.#step < steps; this.#step++) {
      await new Promise(setImmediate);
      const due = this.#requests.filter(({ notBefore }) => notBefore <= this.#step);
      const next = due[this.#random(Math.max(1, due.length))];
      if (next === undefined) continue;
      this.#requests.splice(this.#requests.indexOf(next), 1);
      next.arrive();
    }
    this.#requests.length = 0;
  }

  #send(arrive: () => void, isSlow: boolean): void {
    this.#requests.push({ arrive, notBefore: this.#step + (isSlow ? this.#random(1_500) : 0) });
  }

  /**
   * A request, which arrives at some later time. If its sender is mortal, the sender may die before the
   * request arrives.
   */
  #request<T>(act: () => T, { isMortal = false, slowOneIn = 200 } = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const dies = isMortal && this.#random(80) === 0;
      if (!dies) {
        this.#send(() => resolve(act()), isMortal && this.#random(slowOneIn) === 0);
        return;
      }
      this.deaths++;
      // Another sender takes the place of the dead one. The request arrives late, or never.
      if (this.#random(2) === 0) this.#send(act, true);
      this.#send(() => reject(new Death()), false);
    });
  }

  async #write(): Promise<void> {
    await this.#request(() => {
      if (this.#random(40) === 0 && this.#newest < blockCount - 1) this.#newest++;
      // Sometimes a block gets its first member late.
      const block = this.#random(3) === 0 ? this.#random(this.#newest + 1) : this.#newest;
      const members = this.members[block] as Map<number, string>;
      const moved = new Map<string, number>();
      const move = (groupKey: string, by: number): void => {
        moved.set(groupKey, (moved.get(groupKey) ?? 0) + by);
      };
      const groupKey = () => groupKeys[this.#random(groupKeys.length)] as string;
      const insert = (into: string): void => {
        members.set(this.#nextId++, into);
        move(into, 1);
      };
      const ids = [...members.keys()];
      if (this.#random(15) === 0) {
        for (const [id, groupKey] of members) {
          members.delete(id);
          move(groupKey, -1);
        }
      }
      const id = ids[this.#random(Math.max(1, ids.length))];
      const was = id === undefined ? undefined : members.get(id);
      if (id === undefined || was === undefined || this.#random(3) === 0) insert(groupKey());
      else {
        const action = this.#random(3);
        members.delete(id);
        move(was, -1);
        if (action === 0) insert(was);
        if (action === 1) {
          const to = groupKey();
          members.set(id, to);
          move(to, 1);
        }
      }
      const isTraced = this.#broken !== "a write that moves as many away as it brings leaves no trace";
      const traced = [...moved].filter(([, by]) => isTraced || by !== 0);
      if (traced.length > 0) this.#count(block, new Map(traced));
    });
  }

  /** Writes an own row of a block as member-writes.ts does. */
  #count(block: number, moved: ReadonlyMap<string, number>): void {
    const isSame = this.#broken === "a row that is made again has the same life";
    const part = parts[this.#random(parts.length)] as number;
    const name = nameOf({ block, part });
    const before = this.own.get(name);
    const counts = new Map(before?.counts);
    const counted = this.counted.get(name) ?? new Map();
    this.counted.set(name, counted);
    for (const sums of [counts, counted])
      for (const [groupKey, by] of moved) sums.set(groupKey, (sums.get(groupKey) ?? 0) + by);
    const life = before?.life ?? (isSame ? "same" : `life${this.#lives++}`);
    this.own.set(name, { block, part, from: "", counts, life, writes: (before?.writes ?? 0) + 1 });
  }

  /**
   * Reads the rows of a directory one by one. `saw` is called when an own row is read, or its place if there
   * is none.
   */
  async #query(
    isMortal: boolean,
    saw: (block: number, part: number) => void = () => {},
  ): Promise<DirectoryRows> {
    const rows: DirectoryRows = { taken: 0, own: [], folds: [], rare: new Map() };
    await this.#request(
      () => {
        rows.taken = this.number;
      },
      { isMortal },
    );
    for (let block = blockCount - 1; block >= 0; block--) {
      for (const part of parts) {
        await this.#request(
          () => {
            const row = this.own.get(nameOf({ block, part }));
            if (row !== undefined) rows.own.push(row);
            saw(block, part);
          },
          { isMortal },
        );
      }
    }
    for (let index = blockCount; index >= 0; index--) {
      if (!this.folds.has(index) && this.#random(3) !== 0) continue;
      await this.#request(
        () => {
          const text = this.folds.get(index);
          if (text !== undefined) rows.folds.push(JSON.parse(text));
        },
        { isMortal },
      );
    }
    await this.#request(
      () => {
        for (const { index, number } of rows.folds) {
          const rare = this.rare.get(index);
          const isBelieved = this.#broken === "rare members of another change of the fold are believed";
          if (rare !== undefined && (rare.number === number || isBelieved)) rows.rare.set(index, rare.ids);
        }
      },
      { isMortal },
    );
    return rows;
  }

  /**
   * Compares what a reader sees of each block with what was counted in each of its rows when the row was read,
   * and rare members with the members when the first row was read.
   */
  async #read(): Promise<void> {
    const seen = new Map<number, ReadonlyMap<number, string>>();
    const sums = new Map<number, Map<string, number>>();
    const rows = await this.#query(false, (block, part) => {
      if (!seen.has(block)) seen.set(block, new Map(this.members[block]));
      const sum = sums.get(block) ?? new Map<string, number>();
      sums.set(block, sum);
      for (const [key, count] of this.counted.get(nameOf({ block, part })) ?? [])
        sum.set(key, (sum.get(key) ?? 0) + count);
    });
    if (!isConsistent(rows) && this.#broken !== "a reader believes folds that were made while it read")
      return;
    const mutated = this.#asRead(rows);
    const found = new Map(blocksIn(sectionsOf(mutated)).map((block) => [block.block, block]));
    const isTrusting = this.#broken === "rare members are believed although the row was written to";
    const trusting = isTrusting ? blocksIn(sectionsOf({ ...mutated, own: [] })) : [];
    this.readings++;
    for (const [block, members] of seen) {
      const idsByGroup = Map.groupBy(members.keys(), (id) => members.get(id));
      const { counts, rare } = found.get(block) ?? { counts: new Map(), rare: new Map() };
      const believed = trusting.find((each) => each.block === block)?.rare ?? rare;
      const isRight =
        groupKeys.every((key) => (counts.get(key) ?? 0) === (sums.get(block)?.get(key) ?? 0)) &&
        [...believed].every(
          ([key, ids]) =>
            String(ids) === String((idsByGroup.get(key) ?? []).sort((one, other) => other - one)),
        );
      if (!isRight) this.wrong++;
    }
  }

  #asRead(rows: DirectoryRows): DirectoryRows {
    if (this.#broken === "a reader adds what a fold and a row both hold") {
      return { ...rows, folds: rows.folds.map((fold) => ({ ...fold, taken: {} })) };
    }
    if (this.#broken === "a reader takes one own row for all of its block") {
      const isFirst = (row: OwnRow) => rows.own.find(({ block }) => block === row.block) === row;
      return { ...rows, own: rows.own.filter(isFirst) };
    }
    if (this.#broken !== "a reader subtracts what a fold took from another life") return rows;
    const lifeIn = (row: OwnRow) =>
      rows.folds.map(({ taken }) => taken[nameOf(row)]?.life).find((life) => life);
    return { ...rows, own: rows.own.map((row) => ({ ...row, life: lifeIn(row) ?? row.life })) };
  }

  async #fold(): Promise<void> {
    // A pause, in which writers make something to fold.
    for (let pause = this.#random(20); pause > 0; pause--) await this.#request(() => {});
    await compactIn(this.#store(), { isTimed: false, limits, mayGoOn: () => true });
  }

  #store(): FoldStore {
    const mortal = { isMortal: true };
    const slow = { isMortal: true, slowOneIn: 4 };
    const broken = this.#broken;
    const takeNumber = (number: number): Promise<boolean> =>
      this.#request(() => {
        if (this.number !== number && broken !== "a number is taken whatever the last one is") return false;
        this.number = number + 1;
        return true;
      }, mortal);
    return {
      readRows: async () => {
        for (;;) {
          if (broken === "a folder reads after it took its number") {
            const before = this.number;
            if (!(await takeNumber(before))) continue;
            return { ...(await this.#query(true)), taken: before };
          }
          const rows = await this.#query(true);
          if (isConsistent(rows))
            return { ...rows, folds: rows.folds.map((fold) => this.#asFolderReads(fold)) };
        }
      },
      readMembers: (block, wanted) =>
        this.#request(
          () =>
            [...(this.members[block] ?? [])]
              .filter(([, groupKey]) => wanted.includes(groupKey))
              .map(([id, groupKey]) => ({ id, groupKey }))
              .sort((one, other) => other.id - one.id),
          mortal,
        ),
      takeNumber: (number) =>
        broken === "a folder reads after it took its number" ? Promise.resolve(true) : takeNumber(number),
      writeFold: async (fold, was) => {
        if (broken === "a folder deletes rows before it writes the fold") {
          for (const [name, { life, writes }] of Object.entries(fold.taken)) {
            const [block, part = 0] = name.split(".").map(Number) as [number, number?];
            await this.#delete({ block, part, life, writes });
          }
        }
        return this.#request(() => {
          const stored = this.folds.get(fold.index);
          const number = stored === undefined ? 0 : (JSON.parse(stored) as Fold).number;
          if (number !== was && broken !== "a fold is written whatever it is by then") return false;
          this.folds.set(fold.index, JSON.stringify(this.#asWritten(fold)));
          this.foldsWritten++;
          return true;
        }, slow);
      },
      writeRare: ({ index, number }, ids) =>
        this.#request(() => {
          if ((this.rare.get(index)?.number ?? 0) < number) this.rare.set(index, { number, ids });
        }, mortal),
      deleteRow: (row) => this.#delete(row),
    };
  }

  #asWritten(fold: Fold): Fold {
    if (this.#broken !== "a fold names one of the rows that it took of a block") return fold;
    const isNamed = (name: string) => !name.endsWith(".1") || fold.taken[name.slice(0, -2)] === undefined;
    return {
      ...fold,
      taken: Object.fromEntries(Object.entries(fold.taken).filter(([name]) => isNamed(name))),
    };
  }

  #asFolderReads(fold: Fold): Fold {
    if (this.#broken === "a folder forgets rows that are still there") return { ...fold, taken: {} };
    if (this.#broken === "a folder takes any fold for full")
      return { ...fold, isFull: fold.isFull || this.#random(2) === 0 };
    return fold;
  }

  #delete({ block, part, life, writes }: Omit<OwnRow, "counts" | "from">): Promise<void> {
    return this.#request(
      () => {
        const name = nameOf({ block, part });
        const row = this.own.get(name);
        const isLife = row?.life === life || this.#broken === "a row is deleted whatever its life is";
        const isWrites =
          row?.writes === writes || this.#broken === "a row is deleted whatever was written to it";
        if (isLife && isWrites) this.own.delete(name);
      },
      { isMortal: true, slowOneIn: 10 },
    );
  }
}

const firstSeed = Number(process.env.SEED ?? 1);

const play = async (seed: number, broken?: Broken): Promise<World> => {
  const world = new World(seed, broken);
  await world.run(8_000);
  return world;
};

describe("folders that die, delay and race", () => {
  test("never make a reader see a wrong counter or rare member", async () => {
    const sums = { readings: 0, deaths: 0, foldsWritten: 0 };
    for (let seed = firstSeed; seed < firstSeed + Number(process.env.RUNS ?? 40); seed++) {
      const world = await play(seed);
      expect(world.wrong, `seed ${seed}`).toBe(0);
      for (const name of ["readings", "deaths", "foldsWritten"] as const) sums[name] += world[name];
    }
    console.log(JSON.stringify(sums));
    expect(sums.readings).toBeGreaterThan(1_000);
    expect(sums.deaths).toBeGreaterThan(300);
    expect(sums.foldsWritten).toBeGreaterThan(500);
  });
});

describe("a reader sees something wrong as soon as", () => {
  test.each<Broken>([
    "a number is taken whatever the last one is",
    "a fold is written whatever it is by then",
    "a row is deleted whatever its life is",
    "a row is deleted whatever was written to it",
    "a row that is made again has the same life",
    "a reader believes folds that were made while it read",
    "a reader adds what a fold and a row both hold",
    "a reader subtracts what a fold took from another life",
    "a folder reads after it took its number",
    "a folder deletes rows before it writes the fold",
    "a fold names one of the rows that it took of a block",
    "a reader takes one own row for all of its block",
    "a folder forgets rows that are still there",
    "a folder takes any fold for full",
    "rare members of another change of the fold are believed",
    "rare members are believed although the row was written to",
    "a write that moves as many away as it brings leaves no trace",
  ])("%s", async (broken) => {
    let wrong = 0;
    let seed = firstSeed;
    for (; wrong === 0 && seed < firstSeed + 400; seed++) wrong = (await play(seed, broken)).wrong;
    expect(wrong, `after ${seed - firstSeed} runs`).toBeGreaterThan(0);
  });
});
