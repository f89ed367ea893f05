import type { Overview } from "../../api/routes.ts";
import { monthName, shortMonthName } from "../../text/dates.ts";
import { number } from "../../text/words.ts";

type Months = Overview["findings"]["byMonth"];

const height = 96;
const step = 40;
const barWidth = 26;

/** Findings by the month in which they were first detected: a plot, and the same numbers as a table. */
export function MonthPlot({ months }: { months: Months }) {
  const most = Math.max(1, ...months.map(({ open, acknowledged }) => open + acknowledged));
  const width = months.length * step;
  const scale = (value: number): number => (value / most) * height;
  return (
    <section>
      <h2>Findings by month</h2>
      <figure class="plot">
        <svg viewBox={`0 0 ${width} ${height + 38}`} aria-hidden="true">
          {months.map(({ month, open, acknowledged }, index) => {
            const x = index * step + (step - barWidth) / 2;
            const all = scale(open + acknowledged);
            return (
              <g key={month}>
                <rect
                  class="acknowledged"
                  x={x}
                  y={18 + height - scale(acknowledged)}
                  width={barWidth}
                  height={scale(acknowledged)}
                />
                <rect class="open" x={x} y={18 + height - all} width={barWidth} height={scale(open)} />
                {open + acknowledged > 0 && (
                  <text class="value" x={x + barWidth / 2} y={18 + height - all - 5}>
                    {number(open + acknowledged)}
                  </text>
                )}
                <text x={x + barWidth / 2} y={height + 33}>
                  {shortMonthName(month)}
                </text>
              </g>
            );
          })}
          <line x1="0" x2={width} y1={18 + height} y2={18 + height} />
        </svg>
        <figcaption>
          <span class="key open">Open</span> <span class="key acknowledged">Acknowledged</span>
        </figcaption>
      </figure>
      <details>
        <summary>The same numbers as a table</summary>
        <table class="small">
          <caption class="hidden">Findings by month</caption>
          <thead>
            <tr>
              <th scope="col">Month</th>
              <th scope="col" class="number">
                Open
              </th>
              <th scope="col" class="number">
                Acknowledged
              </th>
            </tr>
          </thead>
          <tbody>
            {months.map(({ month, open, acknowledged }) => (
              <tr key={month}>
                <th scope="row">{monthName(month)}</th>
                <td class="number">{number(open)}</td>
                <td class="number">{number(acknowledged)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}
