import { addressOf } from "../place.ts";
import { Page } from "./page.tsx";

export function NotFoundPage() {
  return (
    <Page title="Not found">
      <p>There is no page at this address.</p>
      <p>
        <a href={addressOf("/")}>Go to the overview</a>
      </p>
    </Page>
  );
}
