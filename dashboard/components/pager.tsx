import { signal } from "@preact/signals";
import { offsetOf } from "../place.ts";
import { place, setQuery } from "../router.ts";
import { store, stored } from "../stored.ts";
import { number } from "../text/words.ts";
import { Button } from "./button.tsx";

const pageSizes = [50, 100];
const storedAs = "page-size";

/** Rows on a page of a list; the browser keeps what people chose. */
export const pageSize = signal(pageSizes.find((size) => String(size) === stored(storedAs)) ?? 50);

function setPageSize(size: number): void {
  store(storedAs, String(size));
  pageSize.value = size;
  setQuery({ offset: undefined });
}

/** Which entries of a list are shown, and ways to the others. The URL holds the page. */
export function Pager({ total, shown, isBusy }: { total: number; shown: number; isBusy: boolean }) {
  const offset = offsetOf(place.value.query);
  const size = pageSize.value;
  if (shown === total && total <= Math.min(...pageSizes)) return null;
  const turn = (to: number): void => {
    setQuery({ offset: to === 0 ? undefined : to });
    scrollTo(0, 0);
  };
  return (
    <nav class="pager" aria-label="Pages">
      <span class="muted" role="status">
        {isBusy
          ? "Loading …"
          : shown === 0
            ? `Nothing from ${number(offset + 1)} on; ${number(total)} in all`
            : `${number(offset + 1)}–${number(offset + shown)} of ${number(total)}`}
      </span>
      {(offset > 0 || offset + shown < total) && (
        <>
          <Button disabled={offset === 0} onClick={() => turn(Math.max(0, Math.min(offset, total) - size))}>
            Previous
          </Button>
          <Button disabled={offset + shown >= total} onClick={() => turn(offset + size)}>
            Next
          </Button>
        </>
      )}
      {total > Math.min(...pageSizes) && (
        <label class="filter">
          <span>Rows</span>
          <select value={size} onChange={({ currentTarget }) => setPageSize(Number(currentTarget.value))}>
            {pageSizes.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
    </nav>
  );
}
