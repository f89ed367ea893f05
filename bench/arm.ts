/** What arms of the benchmark measure: each measures one subject and returns tables. */

export type Cell = string | number | null;

export type Table = { title: string; columns: string[]; rows: Cell[][]; notes?: string[] };

export type Context = {
  /** Shows the current step; with `done` and `of`, also how far it is. */
  progress: (text: string, done?: number, of?: number) => void;
  /** Numbers of findings to seed an organization with; arms that do not depend on the size ignore them. */
  sizes: number[];
};

export type Run = (context: Context) => Promise<Table[]>;
