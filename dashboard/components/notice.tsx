import type { ComponentChildren } from "preact";
import { adviceFor, type Failure, isPassing } from "../api/failure.ts";
import { addressOf, type QueryValues } from "../place.ts";
import { Button } from "./button.tsx";
import type { Data } from "./use-data.ts";

/** A failure, if there is one: what happened, and what to do. */
export function FailureNotice({ failure, retry }: { failure: Failure | undefined; retry?: () => void }) {
  if (failure === undefined) return null;
  const advice = adviceFor(failure);
  return (
    <div class="notice failure" role="alert">
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
