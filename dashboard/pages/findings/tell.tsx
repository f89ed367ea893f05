import { allPages } from "../../api/all-pages.ts";
import { call } from "../../api/client.ts";
import type { Finding } from "../../api/routes.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { Pending } from "../../components/notice.tsx";
import { useData } from "../../components/use-data.ts";
import { onDemand } from "../../on-demand.tsx";
import { exactTime } from "../../text/dates.ts";
import { count, number } from "../../text/words.ts";
import type { Filters } from "./filters.ts";
import { peopleOf } from "./people.ts";

/** Few breaches are sensitive: its words are no part of a first visit. */
const Talk = onDemand(async () => (await import("./talk.tsx")).Talk);

/** A request names at most so many findings. */
const mostAtOnce = 100;

/** More owners than these are told in several steps. Somebody looks at each. */
const mostFindings = 1000;

/** The findings, or what to list them by. */
type Properties = Ends & { of: readonly Finding[] | Filters };

export function TellDialog({ of, ...ends }: Properties) {
  const data = useData("", async (signal) => {
    const all = Array.isArray(of) ? (of as readonly Finding[]) : await readAll(of as Filters, signal);
    return all.length > mostFindings ? undefined : preview(all, signal);
  });
  const isTooMany = data.value === undefined && !data.isLoading && data.failure === undefined;
  const { value } = data;
  const people = value?.people ?? 0;
  const name = people === 1 ? "Tell the owner" : "Tell the owners";
  const tell = async (): Promise<string> => {
    let matching = 0;
    for (const ids of value?.requests ?? [])
      matching += (await call("POST /dashboard/findings/tell", { body: { ids } })).matching;
    return matching === 0
      ? "Nobody was told: all of them are left out."
      : `${count(matching, "e-mail is", "e-mails are")} on the way.`;
  };
  return (
    <FormDialog {...ends} title={`${name}?`} submit={name} isIdle={people === 0} onSubmit={tell}>
      {isTooMany ? (
        <p>These are more than {number(mostFindings)} findings. Choose fewer, by filters or one by one.</p>
      ) : (
        <Pending data={data} what="the people" />
      )}
      {value !== undefined && <WhoIsTold {...value} />}
      <p>
        Left out are sensitive breaches, disabled addresses, owners who have unsubscribed, and whatever an
        owner was told in the last 24 hours.
      </p>
    </FormDialog>
  );
}

type Preview = {
  /** The ids of each request. */
  requests: readonly number[][];
  /** How many people are told, and when those are who do not fit into the mail budget. */
  people: number;
  mails: { left: number; until: string } | undefined;
  sensitive: readonly Finding[];
  /** Of addresses whose devices are infected. */
  stolen: readonly Finding[];
};

/** Asks the service whom it would tell now. */
async function preview(all: readonly Finding[], signal: AbortSignal): Promise<Preview> {
  const sent = all.filter(({ breach }) => !breach.isSensitive);
  // Those of one person stand together: most people get one request, and so one message.
  const ids = sent.toSorted((one, other) => one.emailId - other.emailId).map(({ id }) => id);
  const requests: number[][] = [];
  for (let start = 0; start < ids.length; start += mostAtOnce)
    requests.push(ids.slice(start, start + mostAtOnce));
  let people = 0;
  let mails: Preview["mails"];
  for (const some of requests) {
    const body = { ids: some, dryRun: true };
    const reply = await call("POST /dashboard/findings/tell", { body }, { signal });
    people += reply.matching;
    mails ??= "mails" in reply ? (reply.mails as Preview["mails"]) : undefined;
  }
  return {
    requests,
    people,
    mails,
    sensitive: all.filter(({ breach }) => breach.isSensitive),
    stolen: sent.filter(({ breach }) => breach.isStealerLog),
  };
}

function WhoIsTold({ people, mails, sensitive, stolen }: Preview) {
  const now = Math.min(people, mails?.left ?? people);
  return (
    <>
      <p>
        {people === 0 ? "Nobody gets" : count(people, "person gets", "people get")} an e-mail at the breached
        address. It names the breach, what leaked and what to do now, and says to ask your organization about
        it.
      </p>
      {now < people && mails !== undefined && (
        <p class="notice">
          {number(now)} now, {number(people - now)} from {exactTime(Date.parse(mails.until))}: the rest of the
          mail budget waits until then.
        </p>
      )}
      {stolen.length > 0 && (
        <p class="notice">
          {count(peopleOf(stolen), "address is", "addresses are")} in a stealer log. Whoever has the log may
          read the mailbox, this message included. Call these people as well, and have the device checked
          first.
        </p>
      )}
      {sensitive.length > 0 && <Talk findings={sensitive} />}
    </>
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
