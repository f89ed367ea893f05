import type { ComponentChildren } from "preact";
import { adviceFor, type Failure } from "../api/failure.ts";
import { Button } from "./button.tsx";

/** A failure: what happened, and what to do. */
export function FailureNotice({ failure, retry }: { failure: Failure; retry?: () => void }) {
  const advice = adviceFor(failure);
  return (
    <div class="notice failure" role="alert">
      <p>
        {failure.message} {advice}
      </p>
      {failure.status >= 500 && failure.requestId !== undefined && (
        <p>
          <small>Tell your operator this number if it happens again: {failure.requestId}</small>
        </p>
      )}
      {retry !== undefined && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** What a list without entries shows: what would fill it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  );
}
