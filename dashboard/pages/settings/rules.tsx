import { call } from "../../api/client.ts";
import type { Reply, Rule } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, type Ends, FormDialog, type Show, useDialog } from "../../components/dialog.tsx";
import { Pending } from "../../components/notice.tsx";
import { SeverityMark } from "../../components/severity.tsx";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { addressOf } from "../../place.ts";
import { isAdmin, isMember } from "../../session.ts";
import { ruleNames } from "../../text/rules.ts";
import { count, number } from "../../text/words.ts";

/** What each rule ends, and as what. */
const meanings: Readonly<Record<Rule["id"], string>> = {
  left:
    "Ends, as ignored, all findings of people who left: every directory that named the address says that " +
    "the person is inactive or deleted.",
  password_changed:
    "Ends, as handled, findings of people who changed their password more than 30 days after the breach, " +
    "where nothing worse leaked than passwords and what goes with them. Never those of stealer logs or malware.",
  harmless:
    "Ends, as ignored, findings of low severity: spam lists, and breaches of names and profiles alone.",
};

export function Rules() {
  const data = useData("", (signal) => call("GET /dashboard/rules", {}, { signal }));
  const { dialog, show } = useDialog(data.reload);
  return (
    <>
      <div class="section-head">
        <p class="prose">
          Rules end findings that leave nothing to do. What people acknowledged or reopened stays as it is. A
          rule that holds no more opens its findings again, and they are told like new ones.
          {isMember.value && " Only admins switch rules."}
        </p>
      </div>
      <Pending data={data} what="the rules" />
      {data.value?.rules.map((rule) => (
        <RuleSection key={rule.id} rule={rule} show={show} />
      ))}
      {dialog}
    </>
  );
}

function RuleSection({ rule, show }: { rule: Rule; show: Show }) {
  const { id, isOn, changedAt, ended } = rule;
  const name = ruleNames[id];
  const heading = `rule-${id}`;
  return (
    <section aria-labelledby={heading}>
      <div class="section-head">
        <h2 id={heading}>{name}</h2>
        <span class={`state ${isOn ? "good" : ""}`}>{isOn ? "On" : "Off"}</span>
        <span class="space" />
        {isAdmin.value && isOn && (
          <Button aria-description={name} onClick={() => show((ends) => <SwitchOff {...ends} id={id} />)}>
            Switch off
          </Button>
        )}
        {!isOn && (
          <Button aria-description={name} onClick={() => show((ends) => <Preview {...ends} id={id} />)}>
            {isAdmin.value ? "Switch on" : "Preview"}
          </Button>
        )}
      </div>
      <p class="prose">{meanings[id]}</p>
      <p class="muted">
        {ended.total === 0 ? (
          "It has ended nothing. "
        ) : (
          <>
            <a href={addressOf("/findings", { endedBy: id })}>
              {count(ended.total, "finding is", "findings are")} ended by it
            </a>
            , {number(ended.lastWeek)} in the last 7 days.{" "}
          </>
        )}
        {changedAt !== null && (
          <>
            Switched {isOn ? "on" : "off"} <When time={changedAt} />
          </>
        )}
      </p>
    </section>
  );
}

type DialogProps = Ends & { id: Rule["id"] };

const switchTo = (id: Rule["id"], isOn: boolean) =>
  call("PUT /dashboard/rules/{id}", { path: { id }, body: { isOn } });

/** Nobody switches a rule on without having seen what it would end. */
function Preview({ id, ...ends }: DialogProps) {
  const name = ruleNames[id];
  const data = useData(id, (signal) =>
    call("POST /dashboard/rules/{id}/preview", { path: { id } }, { signal }),
  );
  const { value } = data;
  const submit = async (): Promise<string | undefined> => {
    if (!isAdmin.value) return undefined;
    await switchTo(id, true);
    return `The rule "${name}" is on. What it ends is ended within a minute.`;
  };
  return (
    <FormDialog
      title={name}
      submit={isAdmin.value ? "Switch on" : "Close"}
      isIdle={value === undefined}
      onClose={ends.onClose}
      onDone={ends.onDone}
      onSubmit={submit}
    >
      <Pending data={data} what="what it would end" />
      {value !== undefined && <WouldEnd {...value} />}
    </FormDialog>
  );
}

function WouldEnd({ open, wouldEnd, examples }: Reply<"POST /dashboard/rules/{id}/preview">) {
  return (
    <>
      <p>
        <strong>
          {wouldEnd === 0 ? "It would end nothing now" : `It would end ${number(wouldEnd)} now`}
        </strong>
        , of {count(open, "open finding")}. Findings to come are asked too: those that end as they are found
        are told to webhooks alone.
      </p>
      {examples.length > 0 && (
        <ul class="ranking" aria-label="Examples">
          {examples.map(({ id, email, breach, severity, ownerName }) => (
            <li key={id}>
              <SeverityMark severity={severity} />
              <span>
                <bdi>{email}</bdi>
                {ownerName !== null && (
                  <>
                    , <bdi>{ownerName}</bdi>
                  </>
                )}
              </span>
              <span>
                <bdi>{breach.title}</bdi>
              </span>
            </li>
          ))}
          {wouldEnd > examples.length && <li class="muted">and {number(wouldEnd - examples.length)} more</li>}
        </ul>
      )}
    </>
  );
}

function SwitchOff({ id, ...ends }: DialogProps) {
  const name = ruleNames[id];
  const act = async (): Promise<string> => {
    await switchTo(id, false);
    return `The rule "${name}" is off.`;
  };
  return (
    <Confirm {...ends} title={`Switch off "${name}"?`} submit="Switch off" act={act}>
      It ends nothing more. What it has ended stays so.
    </Confirm>
  );
}
