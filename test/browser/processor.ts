import type { Page } from "playwright-core";

/** Of the thread of a page: scripts alone, or all tasks, such as styles and layout too. */
type Work = "ScriptDuration" | "TaskDuration";

/** Gets something ready, and resolves to the measured action. */
type Turn = () => Promise<() => Promise<unknown>>;

/** Work like that of drawing a page: reads the JSON of 100 rows, and makes a table of 2,000 elements of them. */
const fixedWork = `new Promise((resolve) => setTimeout(() => {
  const row = Array.from({ length: 20 }, (_, index) => ({ name: "cell-" + index, text: index + " of 20 in a row" }));
  const rows = JSON.parse(JSON.stringify(Array(100).fill(row)));
  const table = document.createElement("table");
  document.body.append(table);
  for (const cells of rows) {
    const line = table.appendChild(document.createElement("tr"));
    for (const { name, text } of cells) {
      const cell = line.appendChild(document.createElement("td"));
      cell.setAttribute("class", name);
      cell.setAttribute("title", text);
      cell.addEventListener("click", resolve);
      cell.append(text, " ");
    }
  }
  table.remove();
  resolve();
}))`;

/** What the fixed work takes on the quiet machine on which limits of the page were set. */
const quietMilliseconds = 8;

/**
 * The processor time of a page's turn in milliseconds, on the quiet machine that set the limits. The measured
 * time is scaled by fixed work, which a slow machine slows down as much. A busy machine only adds time, so
 * the smaller of two estimates counts. One is the quickest turn over the quickest fixed work, the other is
 * the median over the turns.
 */
export const processorTime = async (page: Page, work: Work, turns: readonly Turn[]): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const measure = async (name: Work, act: () => Promise<unknown>): Promise<number> => {
    const read = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    };
    const before = await read();
    await act();
    return (await read()) - before;
  };
  const taken: number[] = [];
  const fixed: number[] = [];
  for (const turn of turns) {
    taken.push(await measure(work, await turn()));
    fixed.push(await measure("ScriptDuration", () => page.evaluate(fixedWork)));
  }
  await session.detach();
  const ratios = taken.map((each, turn) => each / (fixed[turn] ?? Number.NaN));
  return quietMilliseconds * Math.min(Math.min(...taken) / Math.min(...fixed), median(ratios));
};

export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
