import { offsetOf } from "../place.ts";
import { place, setQuery } from "../router.ts";
import { number } from "../text/words.ts";
import { Button } from "./button.tsx";

export const pageSize = 50;

/** Which entries of a list are shown, and ways to the others. The URL holds the page. */
export function Pager({ total, shown, isBusy }: { total: number; shown: number; isBusy: boolean }) {
  const offset = offsetOf(place.value.query);
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
          <Button disabled={offset === 0} onClick={() => turn(Math.max(0, offset - pageSize))}>
            Previous
          </Button>
          <Button disabled={offset + shown >= total} onClick={() => turn(offset + pageSize)}>
            Next
          </Button>
        </>
      )}
    </nav>
  );
}
