import { useRef, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Finding, FoundBreach } from "../api/routes.ts";
import { Button } from "../components/button.tsx";
import { FailureNotice } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { SeverityMark } from "../components/severity.tsx";
import { useAction } from "../components/use-action.ts";
import { useData } from "../components/use-data.ts";
import { place } from "../router.ts";
import { dayName } from "../text/dates.ts";
import { number } from "../text/words.ts";
import { AcknowledgeDialog } from "./findings/acknowledge.tsx";
import { Advice, Description } from "./findings/details.tsx";
import { filtersOf, inWords } from "./findings/filters.ts";
import { FindingList, useFindings } from "./findings/list.tsx";
import type { Selection } from "./findings/requests.ts";

type Breach = Finding["breach"];

/** One breach: what leaked, what to do, and who is in it. */
export function BreachPage({ id }: { id: string }) {
  const filters = { ...filtersOf(place.value.query), breachId: id };
  const people = useFindings(filters);
  const findings = people.value?.findings;
  // Findings bring their breach along; only where none is shown it has to be asked for.
  const asked = useData(String(findings?.length === 0), async (signal) =>
    findings?.length === 0 ? readBreach(id, signal) : undefined,
  );
  // The last that was known, while the next page of the list loads.
  const known = useRef<Breach>(undefined);
  known.current = findings?.[0]?.breach ?? asked.value ?? known.current;
  const breach = known.current;
  const [open, setOpen] = useState<{ selection: Selection; isReopening: boolean }>();
  const action = useAction();

  const choose = (isReopening: boolean): void =>
    void action.run(async () => {
      const now = await readBreach(id);
      const chosen = { breachId: id, acknowledged: String(isReopening) };
      const total = isReopening ? now.acknowledged : now.open;
      const words = inWords(chosen, total, { breach: now.title });
      setOpen({ isReopening, selection: { kind: "matching", filters: chosen, total, words } });
    });

  const failure = action.failure ?? asked.failure;
  return (
    <Page
      title={breach?.title ?? "Breach"}
      about={breach && <SeverityMark severity={breach.severity} />}
      actions={
        breach && (
          <>
            <Button isBusy={action.isBusy} onClick={() => choose(true)}>
              Reopen
            </Button>
            <Button kind="primary" isBusy={action.isBusy} onClick={() => choose(false)}>
              Acknowledge all
            </Button>
          </>
        )
      }
    >
      {failure !== undefined && <FailureNotice failure={failure} />}
      {breach !== undefined && <About breach={breach} />}
      <section>
        <h2>People</h2>
        <FindingList filters={filters} data={people} isOfBreach />
      </section>
      {open !== undefined && (
        <AcknowledgeDialog {...open} onClose={() => setOpen(undefined)} onDone={people.reload} />
      )}
    </Page>
  );
}

const readBreach = (id: string, signal?: AbortSignal): Promise<FoundBreach> =>
  call("GET /dashboard/breaches/{id}", { path: { id } }, signal ? { signal } : {});

function About({ breach }: { breach: Breach }) {
  const marks = [
    !breach.isVerified && "not verified",
    breach.isSensitive && "sensitive",
    breach.isStealerLog && "stealer log",
    breach.isMalware && "malware",
    breach.isFabricated && "fabricated in part",
    breach.isSpamList && "spam list",
    breach.isRetired && "retired",
  ].filter((mark) => mark !== false);
  return (
    <div class="split">
      <section class="prose">
        <h2>What leaked</h2>
        <ul class="leaked">
          {breach.dataClasses.map((dataClass) => (
            <li key={dataClass}>{dataClass}</li>
          ))}
        </ul>
        <p>
          {dayName(breach.breachDate)}
          {breach.domain !== "" && `, ${breach.domain}`}, {number(breach.pwnCount)} accounts
          {marks.length > 0 && `; ${marks.join(", ")}`}
        </p>
        <Description breach={breach} />
      </section>
      <Advice advice={breach.advice} />
    </div>
  );
}
