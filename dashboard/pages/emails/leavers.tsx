import { useState } from "preact/hooks";
import { allPages } from "../../api/all-pages.ts";
import { call } from "../../api/client.ts";
import type { Email, ImportRow } from "../../api/routes.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { Pending } from "../../components/notice.tsx";
import { Progress } from "../../components/progress.tsx";
import { useData } from "../../components/use-data.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { addresses, count, number } from "../../text/words.ts";
import { changeAll, mostChanged } from "./change.tsx";

/** More are counted. */
const mostShown = 500;

/**
 * The enabled addresses of the file's domains that are not in the file, and how many are enabled in all.
 * Other domains may have files of their own.
 */
async function missingFrom(
  rows: readonly ImportRow[],
  signal: AbortSignal,
): Promise<{ missing: Email[]; watched: number }> {
  const named = new Set(rows.map(({ email }) => email));
  const missing: Email[] = [];
  let watched = 0;
  for (const domainId of new Set(rows.flatMap((row) => row.domainId ?? []))) {
    const pages = allPages("emails", (page) =>
      call("GET /dashboard/emails", { query: { domainId, isActive: true, ...page } }, { signal }),
    );
    for await (const { rows: emails } of pages) {
      missing.push(...emails.filter(({ email }) => !named.has(email)));
      watched += emails.length;
    }
  }
  return { missing, watched };
}

/** Shows who left, as far as a file of everybody tells, and disables their addresses. */
export function LeaversDialog({ rows, ...ends }: Ends & { rows: readonly ImportRow[] }) {
  const left = useData("", (signal) => missingFrom(rows, signal));
  const [done, setDone] = useState(0);
  const { missing = [], watched = 0 } = left.value ?? {};
  const disable = async (): Promise<string> => {
    for (let start = done; start < missing.length; start += mostChanged) {
      const ids = missing.slice(start, start + mostChanged).map(({ id }) => id);
      await changeAll(ids, { set: { isActive: false } }, () => {
        setDone(0);
        left.reload();
      });
      setDone(start + ids.length);
    }
    return `Disabled ${addresses(missing.length)}.`;
  };
  return (
    <FormDialog
      {...ends}
      title="Disable those who are missing from this file"
      submit={`Disable ${addresses(missing.length)}`}
      kind="danger"
      isIdle={missing.length === 0}
      onSubmit={disable}
    >
      <Pending data={left} what="the addresses that are watched" />
      {left.value !== undefined && (
        <>
          <p>
            {number(missing.length)} of {count(watched, "enabled address", "enabled addresses")} of the file's
            domains {missing.length === 1 ? "is" : "are"} not in it. Disabled addresses keep their history,
            and are not scanned or paid for.
          </p>
          {missing.length > 0 && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
            <section class="scroll" tabIndex={0} aria-label="Missing addresses">
              <ul>
                {missing.slice(0, mostShown).map(({ id, email, ownerName }) => (
                  <li key={id}>
                    <bdi>{inBothForms(email)}</bdi>
                    {ownerName !== null && (
                      <>
                        , <bdi>{ownerName}</bdi>
                      </>
                    )}
                  </li>
                ))}
              </ul>
            </section>
          )}
          {missing.length > mostShown && <p>And {number(missing.length - mostShown)} more.</p>}
          {done > 0 && <Progress label="Disabling" done={done} total={missing.length} />}
        </>
      )}
    </FormDialog>
  );
}
