/** What the arms of the benchmark share. An arm measures one subject and answers with tables. */

export type Cell = string | number | null;

export type Table = { title: string; columns: string[]; rows: Cell[][]; notes?: string[] };

export type Context = {
  /** Says what is being done, and optionally how much of it. */
  progress: (text: string, done?: number, of?: number) => void;
  /** Findings that an organization is seeded with; arms that do not depend on it ignore it. */
  sizes: number[];
};

export type Arm = { name: string; about: string; run: (context: Context) => Promise<Table[]> };
