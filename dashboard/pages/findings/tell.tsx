import { allPages } from "../../api/all-pages.ts";
import { call } from "../../api/client.ts";
import type { Finding } from "../../api/routes.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { Pending } from "../../components/notice.tsx";
import { useData } from "../../components/use-data.ts";
import { count, number } from "../../text/words.ts";
import type { Filters } from "./filters.ts";

/** A request names at most so many findings. */
const mostAtOnce = 100;

/** More owners than these are told in several steps. Somebody looks at each. */
const mostFindings = 1000;

/** The findings, or what to list them by. */
type Properties = Ends & { of: readonly Finding[] | Filters };

export function TellDialog({ of, ...ends }: Properties) {
  const data = useData("", async (signal) =>
    Array.isArray(of) ? (of as readonly Finding[]) : readAll(of as Filters, signal),
  );
  const { value } = data;
  const isTooMany = value !== undefined && value.length > mostFindings;
  const sent = isTooMany ? [] : (value?.filter(({ breach }) => !breach.isSensitive) ?? []);
  const people = new Set(sent.map(({ emailId }) => emailId)).size;
  const name = people === 1 ? "Tell the owner" : "Tell the owners";
  const tell = async (): Promise<string> => {
    // Those of one person stand together: most people get one request, and so one message.
    const ids = sent.toSorted((one, other) => one.emailId - other.emailId).map(({ id }) => id);
    let matching = 0;
    for (let start = 0; start < ids.length; start += mostAtOnce) {
      const body = { ids: ids.slice(start, start + mostAtOnce) };
      matching += (await call("POST /dashboard/findings/tell", { body })).matching;
    }
    return matching === 0
      ? "Nobody was told: all of them are left out."
      : `${count(matching, "e-mail is", "e-mails are")} on the way.`;
  };
  return (
    <FormDialog {...ends} title={`${name}?`} submit={name} isIdle={people === 0} onSubmit={tell}>
      <Pending data={data} what="the people" />
      {isTooMany && (
        <p>These are more than {number(mostFindings)} findings. Choose fewer, by filters or one by one.</p>
      )}
      {value !== undefined && !isTooMany && (
        <p>
          {people === 0 ? "Nobody gets" : `At most ${count(people, "person gets", "people get")}`} an e-mail
          at the breached address. It names the breach, what leaked and what to do now, and says to ask your
          organization about it.
        </p>
      )}
      <p>
        Left out are sensitive breaches, disabled addresses, owners who have unsubscribed, and whatever an
        owner was told in the last 24 hours.
      </p>
    </FormDialog>
  );
}

async function readAll(filters: Filters, signal: AbortSignal): Promise<Finding[]> {
  const all: Finding[] = [];
  const pages = allPages("findings", (page) =>
    call("GET /dashboard/findings", { query: { ...filters, ...page } }, { signal }),
  );
  for await (const { rows } of pages) {
    all.push(...rows);
    if (all.length > mostFindings) break;
  }
  return all;
}
