import { expect, test } from "vitest";
import { isPlotted } from "../../dashboard/text/months.ts";

const none = { open: 0, acknowledged: 0 };
const some = { open: 1, acknowledged: 2 };

test("months are plotted from the third month on, counted from the first with findings", () => {
  expect(isPlotted([none, none, none])).toBe(false);
  expect(isPlotted([none, none, some])).toBe(false);
  expect(isPlotted([none, some, some])).toBe(false);
  expect(isPlotted([some, none, none])).toBe(true);
});
