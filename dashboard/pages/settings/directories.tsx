import type { ComponentChildren } from "preact";
import { sendChanges } from "../../api/changes.ts";
import { call } from "../../api/client.ts";
import type { Directory } from "../../api/routes.ts";
import { Button, CopyButton, DetailsButton } from "../../components/button.tsx";
import { now } from "../../components/clock.ts";
import { Confirm, Dialog, type Ends, FormDialog, type Show, useDialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/facts.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Name } from "../../components/name.tsx";
import { Empty, Pending } from "../../components/notice.tsx";
import { useData, useRepeat } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { addressOf, type QueryValues } from "../../place.ts";
import { isAdmin, isMember } from "../../session.ts";
import { timePassed } from "../../text/dates.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { addresses, count, number } from "../../text/words.ts";
import { isolated } from "../../translation.ts";
import { ConnectDirectory } from "./connect-directory.tsx";
import { ShownOnce } from "./shown-once.tsx";

const firstCallSeconds = 3;

export function Directories() {
  const data = useData("", (signal) => call("GET /dashboard/directories", {}, { signal }));
  const { value } = data;
  const { dialog, show } = useDialog(data.reload);
  const isWaiting = value?.directories.some(({ lastRequestAt }) => lastRequestAt === null) ?? false;
  // The dialog that connects one waits by itself.
  useRepeat(isWaiting && dialog === undefined, firstCallSeconds, data);
  const connect = isAdmin.value && (
    <Button kind="primary" onClick={() => show((ends) => <ConnectDirectory {...ends} show={show} />)}>
      Connect a directory
    </Button>
  );
  return (
    <>
      <div class="section-head">
        <p class="prose">
          Your directory says who your people are: who joins is watched, and whose account ends is disabled,
          within a minute. The service holds no key to it.
          {isMember.value && " Only admins connect directories."}
        </p>
        {connect}
      </div>
      <Pending data={data} what="the directories" />
      {value?.directories.length === 0 && (
        <Empty title="No directory is connected.">
          Addresses are added and disabled by hand until Entra ID, Okta or another directory does it.
        </Empty>
      )}
      {value !== undefined && value.waitingForSeat > 0 && <WaitingForSeat waiting={value.waitingForSeat} />}
      {value?.directories.map((directory) => (
        <Connection
          key={directory.id}
          directory={directory}
          isOnly={value.directories.length === 1}
          show={show}
        />
      ))}
      {value !== undefined && value.directories.length > 0 && (
        <p class="muted">
          Open findings of people who left can end by themselves: see{" "}
          <a href={addressOf("/settings/rules")}>Rules</a>.
        </p>
      )}
      {dialog}
    </>
  );
}

/** Of people whom directories named. */
const ofDirectory = { source: "directory" };

function WaitingForSeat({ waiting }: { waiting: number }) {
  const query = { ...ofDirectory, isActive: "false", left: "false" };
  return (
    <div class="notice waiting">
      <p>
        {addresses(waiting)} of people who joined {waiting === 1 ? "waits" : "wait"} for a seat. They are{" "}
        <a href={addressOf("/emails", query)}>listed as disabled</a>. Who has waited longest is enabled as
        soon as a seat is free. The number of seats is under{" "}
        <a href={addressOf("/settings/organization")}>Organization</a>.
      </p>
    </div>
  );
}

const teamSources = [
  { value: "none", label: "Not from the directory: they stay as they are" },
  { value: "department", label: "Their department" },
  { value: "group", label: "Their first group by name" },
] as const;

type ConnectionProps = { directory: Directory; isOnly: boolean; show: Show };

function Connection({ directory, isOnly, show }: ConnectionProps) {
  const { id, name, url, users, activeUsers, groups, teamFrom, withoutAddress } = directory;
  const { watched, disabled, otherDomains } = directory.addresses;
  const details = (children: ComponentChildren) => (
    <DetailsButton
      about={`What ${isolated(name)} brought that cannot be watched`}
      onClick={() => show(({ onClose }) => <Unusable id={id} name={name} onClose={onClose} />)}
    >
      {children}
    </DetailsButton>
  );
  return (
    <section aria-labelledby={`directory-${id}`}>
      <div class="section-head">
        <h2 id={`directory-${id}`}>
          <Name text={name} />
        </h2>
        {isAdmin.value && <Actions directory={directory} show={show} />}
      </div>
      <dl class="facts">
        <Fact name="Last request">
          <LastRequest directory={directory} />
        </Fact>
        <Fact name="Users">
          {number(activeUsers)} active of {number(users)}
        </Fact>
        <Fact name="Groups">{number(groups)}</Fact>
        <Fact name="Addresses">
          <Listed isLink={isOnly} value={watched} query={{ ...ofDirectory, isActive: "true" }} /> enabled,{" "}
          <Listed isLink={isOnly} value={disabled} query={{ ...ofDirectory, isActive: "false" }} /> disabled
        </Fact>
        <Fact name="Teams from">{teamSources.find(({ value }) => value === teamFrom)?.label}</Fact>
        {otherDomains + withoutAddress > 0 && (
          <Fact name="Not watched">
            {otherDomains > 0 && (
              <p>
                {details(`${addresses(otherDomains)} of other domains`)}: only domains that are verified under{" "}
                <a href={addressOf("/domains")}>Domains</a> are watched.
              </p>
            )}
            {withoutAddress > 0 && (
              <p>
                {details(count(withoutAddress, "active user"))} without an address: neither the user name nor
                an e-mail is one.
              </p>
            )}
          </Fact>
        )}
        {url !== undefined && (
          <Fact name="URL">
            <code>{url}</code> <CopyButton text={url} about="The URL" />
          </Fact>
        )}
      </dl>
    </section>
  );
}

/** A number, and the way to the addresses that it counts. A list of one directory among several there is not. */
function Listed({ isLink, value, query }: { isLink: boolean; value: number; query: QueryValues }) {
  return isLink && value > 0 ? <a href={addressOf("/emails", query)}>{number(value)}</a> : number(value);
}

const dayMilliseconds = 24 * 60 * 60 * 1_000;

/** When a directory last called: one that is quiet for a day may not be able to. */
function LastRequest({ directory: { createdAt, lastRequestAt } }: { directory: Directory }) {
  const since = Date.parse(lastRequestAt ?? createdAt);
  if (now() - since > dayMilliseconds)
    return (
      <>
        <span class="state bad">
          {lastRequestAt === null ? "Has never called" : `Silent for ${timePassed(since, now())}`}
        </span>{" "}
        Leavers may still be watched. Look whether its provisioning is on, and whether it has the latest
        token.
      </>
    );
  if (lastRequestAt === null) return <span role="status">Waiting for the first one …</span>;
  return <When time={lastRequestAt} />;
}

function Actions({ directory, show }: { directory: Directory; show: Show }) {
  const buttons = [
    ["Edit", (ends: Ends) => <EditDirectory {...ends} directory={directory} />],
    ["Replace token", (ends: Ends) => <ReplaceToken {...ends} directory={directory} show={show} />],
    ["Disconnect", (ends: Ends) => <Disconnect {...ends} directory={directory} />],
  ] as const;
  return (
    <div class="actions">
      {buttons.map(([name, make]) => (
        <Button key={name} kind="quiet" aria-description={directory.name} onClick={() => show(make)}>
          {name}
        </Button>
      ))}
    </div>
  );
}

function EditDirectory({ directory, ...ends }: Ends & { directory: Directory }) {
  const save = async (fields: FormData): Promise<string> => {
    const typed = {
      name: String(fields.get("name")).trim(),
      teamFrom:
        teamSources.find(({ value }) => value === fields.get("teamFrom"))?.value ?? directory.teamFrom,
    };
    await sendChanges(directory, typed, (body) =>
      call("PATCH /dashboard/directories/{id}", { path: { id: directory.id }, body }),
    );
    return "The directory was changed.";
  };
  return (
    <FormDialog {...ends} title={`Edit ${isolated(directory.name)}`} submit="Save" onSubmit={save}>
      <TextField
        label="Name"
        name="name"
        required
        maxLength={100}
        defaultValue={directory.name}
        autocomplete="off"
        dir="auto"
      />
      <SelectField
        label="Teams from"
        name="teamFrom"
        choices={teamSources}
        chosen={directory.teamFrom}
        hint="Missing teams are created. A team that somebody gives here stays until the directory gives another."
      />
    </FormDialog>
  );
}

function ReplaceToken({ directory, show, ...ends }: Ends & { directory: Directory; show: Show }) {
  const { id, name } = directory;
  const replace = async (): Promise<undefined> => {
    const { token = "" } = await call("PATCH /dashboard/directories/{id}", {
      path: { id },
      body: { newToken: true },
    });
    show(({ onClose }) => (
      <ShownOnce
        title={`The new token of ${isolated(name)}`}
        noun="token"
        value={token}
        onClose={onClose}
        before={<p>The old one has ended. The directory cannot call until it has this one.</p>}
      />
    ));
  };
  return (
    <FormDialog
      {...ends}
      title={`Replace the token of ${isolated(name)}?`}
      submit="Replace token"
      kind="danger"
      onSubmit={replace}
    >
      <p>
        The old token ends at once. Until the directory has the new one, joiners are not watched and leavers
        not disabled.
      </p>
    </FormDialog>
  );
}

function Disconnect({ directory: { id, name, users, groups }, ...ends }: Ends & { directory: Directory }) {
  const disconnect = async (): Promise<string> => {
    await call("DELETE /dashboard/directories/{id}", { path: { id } });
    return `The directory ${isolated(name)} was disconnected.`;
  };
  return (
    <Confirm {...ends} title={`Disconnect ${isolated(name)}?`} submit="Disconnect" act={disconnect}>
      Its token ends at once. Its {count(users, "user")} and {count(groups, "group")} are forgotten. E-mails
      and findings stay as they are: nobody is enabled or disabled by this.
    </Confirm>
  );
}

/** What a directory has brought that cannot be watched, and why. */
function Unusable({ id, name, onClose }: { id: number; name: string; onClose: () => void }) {
  const data = useData("", (signal) => call("GET /dashboard/directories/{id}", { path: { id } }, { signal }));
  const { otherDomains, withoutAddress = [] } = data.value ?? {};
  const { domains = [], total = 0 } = otherDomains ?? {};
  return (
    <Dialog title={`Not watched of ${isolated(name)}`} onClose={onClose} button="Close" isText>
      <Pending data={data} what="what is not watched" />
      {domains.length > 0 && (
        <section>
          <h3>Domains that are not verified</h3>
          <p>
            Add those that are yours under <a href={addressOf("/domains")}>Domains</a>. Their addresses are
            watched as soon as the domain is verified.
          </p>
          <ul>
            {domains.map((domain) => (
              <li key={domain.name}>
                <bdi>{inBothForms(domain.name)}</bdi>: {addresses(domain.addresses)}
              </li>
            ))}
          </ul>
          {total > domains.length && <p>And {number(total - domains.length)} more domains.</p>}
        </section>
      )}
      {withoutAddress.length > 0 && (
        <section>
          <h3>Active users without an address</h3>
          <p>Give them an e-mail in the directory, unless nobody reads mail by that account.</p>
          <ul>
            {withoutAddress.map(({ displayName, userName }) => (
              <li key={userName}>
                <bdi>{displayName}</bdi>
                {displayName !== userName && (
                  <>
                    , <bdi>{userName}</bdi>
                  </>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </Dialog>
  );
}
