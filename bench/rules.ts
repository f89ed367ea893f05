/** How many findings end without a click in three years of a company, and whether each should have. */
import type { Context, Table } from "./arm.ts";
import { replay } from "./rules-replay.ts";

const seeds = [1, 2, 3];

export const run = async ({ progress }: Context): Promise<Table[]> => {
  const rows = seeds.map((seed, index) => {
    progress("rules: three years of 5,000 people", index, seeds.length);
    const { findings, ended, reopened, byPeople, open, wrong, missed } = replay(seed);
    const { left, password_changed, harmless } = ended;
    const all = left + password_changed + harmless;
    const share = `${Math.round((100 * all) / findings)} %`;
    return [seed, findings, left, password_changed, harmless, share, byPeople, open, reopened, wrong, missed];
  });
  return [
    {
      title: "Findings of three years of a company with 5,000 people",
      columns: [
        "Seed",
        "Findings",
        "Ended: left",
        "Ended: password changed",
        "Ended: low severity",
        "Without a click",
        "By people",
        "Open or reopened by people",
        "Reopened by rules",
        "Ended wrongly",
        "Left open wrongly",
      ],
      rows,
      notes: [
        "Breaches have the dates, sizes and data classes that Have I Been Pwned listed in 2025 (bench/hibp-mix.csv).",
        "An oracle that shares no code with the rules looks after each change of a fact whether each state is right.",
      ],
    },
  ];
};
