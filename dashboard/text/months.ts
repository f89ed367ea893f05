type Month = { open: number; acknowledged: number };

/**
 * Whether a plot by month shows more than one first scan: from the third month on. `months`: oldest first, up to now.
 */
export function isPlotted(months: readonly Month[]): boolean {
  const first = months.findIndex(({ open, acknowledged }) => open + acknowledged > 0);
  return first >= 0 && months.length - first >= 3;
}
