import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { adviceFor, type Failure, isPassing } from "../api/failure.ts";
import { addressOf, type QueryValues } from "../place.ts";
import { Button } from "./button.tsx";
import type { Data } from "./use-data.ts";

export function FailureNotice({ failure, retry }: { failure: Failure | undefined; retry?: () => void }) {
  const notice = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // What was pressed can be far below. Who only looks, and did nothing, is left where they are.
    if (retry === undefined) notice.current?.scrollIntoView({ block: "nearest" });
  }, [failure]);
  if (failure === undefined) return null;
  const advice = adviceFor(failure);
  return (
    <div ref={notice} class="notice failure" role="alert">
      <p>
        {failure.message} {advice}
      </p>
      {failure.status >= 500 && failure.requestId !== undefined && (
        <p>
          <small>If it happens again, tell your operator this number: {failure.requestId}</small>
        </p>
      )}
      {retry !== undefined && isPassing(failure) && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** Why data could not be loaded, or that it loads for the first time; nothing once it is there. */
export function Pending({ data: { value, failure, reload }, what }: { data: Data<unknown>; what: string }) {
  if (failure !== undefined) return <FailureNotice failure={failure} retry={reload} />;
  return value === undefined ? <Loading what={what} /> : null;
}

/** What a list without entries shows: what would fill it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children && <p>{children}</p>}
    </div>
  );
}

type NoMatchProps = { title: string; path: string; query?: QueryValues; all: string };

/** What a list shows when nothing matches its filters, with a link to all entries. */
export function NoMatch({ title, path, query, all }: NoMatchProps) {
  return (
    <Empty title={title}>
      <a href={addressOf(path, query)}>{all}</a>
    </Empty>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  );
}
