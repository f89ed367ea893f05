import { call } from "../api/client.ts";
import type { Domain } from "../api/routes.ts";
import { Button, CopyButton } from "../components/button.tsx";
import { Confirm, type Ends, FormDialog, type Show, useDialog } from "../components/dialog.tsx";
import { Fact } from "../components/facts.tsx";
import { TextField } from "../components/field.tsx";
import { Listing, usePage } from "../components/listing.tsx";
import { Empty } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { actionsColumn, type Column } from "../components/table.tsx";
import { When } from "../components/when.tsx";
import { addressOf } from "../place.ts";
import { isAdmin, isMember } from "../session.ts";
import { domainIn, inBothForms } from "../text/domain-name.ts";
import { number } from "../text/words.ts";
import { isolated } from "../translation.ts";
import { CheckDialog, hostIn } from "./domains/check.tsx";

/** Domains that were added since the page was loaded. */
const added = new Set<number>();

export function DomainsPage() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/domains", { query }, { signal }));
  const { unwatched = 0 } = data.value ?? {};
  const { dialog, show } = useDialog(data.reload);
  return (
    <Page
      title="Domains"
      actions={
        isAdmin.value && (
          <Button kind="primary" onClick={() => show((ends) => <AddDomain {...ends} />)}>
            Add domain
          </Button>
        )
      }
    >
      <p class="prose">
        You can watch addresses at domains that you have proved to be yours with a DNS record.
        {isMember.value && " Only admins add, check and remove domains."}
      </p>
      {unwatched > 0 && (
        <p class="prose">
          <a href={addressOf("/domains/unwatched")}>In breaches, not watched: {number(unwatched)}</a>
        </p>
      )}
      <Listing
        what="domains"
        data={data}
        rowsOf={({ domains }) => domains}
        columns={columns(show)}
        empty={
          <Empty title="There is no domain yet.">
            Add the domain of your addresses. You get a TXT record to publish in its DNS.
          </Empty>
        }
      />
      <Coverage />
      {dialog}
    </Page>
  );
}

const columns = (show: Show): Column<Domain>[] => [
  {
    name: "Domain",
    kind: "main",
    width: "rest",
    cell: (domain) => (
      <>
        <bdi>{inBothForms(domain.name)}</bdi> <Record domain={domain} />
      </>
    ),
  },
  {
    name: "State",
    width: "time",
    cell: ({ isVerified }) => (
      <span class={`state ${isVerified ? "good" : "open"}`}>{isVerified ? "Verified" : "Not verified"}</span>
    ),
  },
  {
    name: "Covered by",
    width: "name",
    cell: ({ coverage, isVerified }) => {
      if (!isVerified) return <span class="muted">Nothing</span>;
      return coverage === "domain_search" ? "Domain search" : "Address by address";
    },
  },
  {
    name: "E-mails",
    kind: "number",
    width: "word",
    cell: ({ id, emailCount }) => <a href={addressOf("/emails", { domainId: id })}>{number(emailCount)}</a>,
  },
  actionsColumn(
    (domain) =>
      isAdmin.value
        ? [
            { name: "Check now", act: () => show((ends) => <CheckDialog {...ends} domain={domain} />) },
            { name: "Remove", act: () => show((ends) => <RemoveDomain {...ends} domain={domain} />) },
          ]
        : [],
    ({ name }) => name,
  ),
];

/** The record that proves a domain, in parts to copy. It is open for whoever has just added the domain. */
function Record({ domain: { id, name, record, isVerified, verifiedAt, checkedAt } }: { domain: Domain }) {
  const host = hostIn(record.name, name);
  return (
    <details open={added.has(id)}>
      <summary>{isVerified ? "TXT record" : "Record to publish"}</summary>
      <dl class="record">
        <Copied name="Name" value={record.name} about={`The name ${record.name}`} />
        <Copied
          name={`Name, if your DNS provider adds ${isolated(name)} to it`}
          value={host}
          about={`The name ${record.name} without ${name}`}
        />
        <Copied name="Value" value={record.value} about={`The value for ${record.name}`} />
        <Fact name={isVerified ? "Proved" : "Last checked"}>
          <When time={isVerified ? verifiedAt : checkedAt} none="not yet" />
        </Fact>
      </dl>
    </details>
  );
}

const Copied = ({ name, value, about }: { name: string; value: string; about: string }) => (
  <Fact name={name}>
    <code>{value}</code> <CopyButton text={value} about={about} />
  </Fact>
);

function Coverage() {
  return (
    <section class="prose">
      <h2>What covers a domain</h2>
      <p>
        <strong>Domain search:</strong> Have I Been Pwned answers for the whole domain at once, so a scan is
        quick however many addresses there are. For this, the operator has to verify the domain at Have I Been
        Pwned too.
      </p>
      <p>
        <strong>Address by address:</strong> each address is looked up on its own, as fast as the Have I Been
        Pwned subscription allows, so a scan of many addresses takes a while. Breaches that are marked as
        sensitive are not found this way.
      </p>
    </section>
  );
}

function AddDomain(ends: Ends) {
  const add = async (fields: FormData): Promise<string> => {
    const written = domainIn(String(fields.get("name")));
    const { id, name } = await call("POST /dashboard/domains", { body: { name: written } });
    added.add(id);
    return `${isolated(inBothForms(name))} was added. Publish its record in DNS, then press Check now.`;
  };
  return (
    <FormDialog {...ends} title="Add domain" submit="Add domain" onSubmit={add}>
      <TextField
        label="Name"
        name="name"
        required
        maxLength={253}
        missing="Enter a domain, such as example.com."
        placeholder="example.com"
        onChange={({ currentTarget }) => {
          currentTarget.value = domainIn(currentTarget.value);
        }}
        autocomplete="off"
        hint="The part of your addresses after the @."
      />
    </FormDialog>
  );
}

function RemoveDomain({ domain, ...ends }: Ends & { domain: Domain }) {
  const remove = async (): Promise<string> => {
    await call("DELETE /dashboard/domains/{id}", { path: { id: domain.id } });
    return `${isolated(inBothForms(domain.name))} was removed.`;
  };
  return (
    <Confirm {...ends} title={`Remove ${isolated(inBothForms(domain.name))}?`} submit="Remove" act={remove}>
      If you add it again, you have to prove it again with a new record. A domain that still has addresses
      cannot be removed: remove those first.
    </Confirm>
  );
}
