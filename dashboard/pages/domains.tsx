import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Domain } from "../api/routes.ts";
import { Button, CopyButton } from "../components/button.tsx";
import { type Ends, FormDialog } from "../components/dialog.tsx";
import { TextField } from "../components/field.tsx";
import { Listing, usePage } from "../components/listing.tsx";
import { Empty } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { say } from "../components/status.tsx";
import type { Column } from "../components/table.tsx";
import { When } from "../components/when.tsx";
import { addressOf } from "../place.ts";
import { isAdmin } from "../session.ts";
import { domainIn, inBothForms } from "../text/domain-name.ts";
import { number } from "../text/words.ts";
import { CheckDialog, hostIn } from "./domains/check.tsx";

/** Domains that were added since the page was loaded. */
const added = new Set<number>();

type Open = { kind: "add" } | { kind: "check" | "remove"; domain: Domain };

export function DomainsPage() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/domains", { query }, { signal }));
  const { unwatched = 0 } = data.value ?? {};
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <Page
      title="Domains"
      actions={
        isAdmin.value && (
          <Button kind="primary" onClick={() => setOpen({ kind: "add" })}>
            Add domain
          </Button>
        )
      }
    >
      <p class="prose">
        Addresses can be watched at domains that you have proved to be yours with a DNS record.
        {!isAdmin.value && " Only admins add, check and remove domains."}
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
        totalOf={({ total }) => total}
        keyOf={({ id }) => id}
        columns={columns(setOpen)}
        empty={
          <Empty title="There is no domain yet.">
            <p>Add the domain of your addresses. You get a TXT record to publish in its DNS.</p>
          </Empty>
        }
      />
      <Coverage />
      {open?.kind === "add" && <AddDomain onClose={close} onDone={data.reload} />}
      {open?.kind === "check" && <CheckDialog domain={open.domain} onClose={close} onDone={data.reload} />}
      {open?.kind === "remove" && <RemoveDomain domain={open.domain} onClose={close} onDone={data.reload} />}
    </Page>
  );
}

const columns = (setOpen: (open: Open) => void): Column<Domain>[] => [
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
    cell: ({ coverage }) => (coverage === "domain_search" ? "Domain search" : "Address by address"),
  },
  {
    name: "E-mails",
    kind: "number",
    width: "word",
    cell: ({ id, emailCount }) => <a href={addressOf("/emails", { domainId: id })}>{number(emailCount)}</a>,
  },
  {
    name: "Actions",
    kind: "actions",
    cell: (domain) =>
      isAdmin.value && (
        <>
          <Button
            kind="quiet"
            aria-description={domain.name}
            onClick={() => setOpen({ kind: "check", domain })}
          >
            Check now
          </Button>
          <Button
            kind="quiet"
            aria-description={domain.name}
            onClick={() => setOpen({ kind: "remove", domain })}
          >
            Remove
          </Button>
        </>
      ),
  },
];

/** The record that proves a domain, in parts to copy. It is open for whoever has just added the domain. */
function Record({ domain: { id, name, record, isVerified, verifiedAt, checkedAt } }: { domain: Domain }) {
  const host = hostIn(record.name, name);
  const parts = (
    <dl class="record">
      <div>
        <dt>Name</dt>
        <dd>
          <code>{record.name}</code> <CopyButton text={record.name} about={`The name ${record.name}`} />
        </dd>
      </div>
      <div>
        <dt>Name, if your DNS provider adds {name} to it</dt>
        <dd>
          <code>{host}</code> <CopyButton text={host} about={`The name ${record.name} without ${name}`} />
        </dd>
      </div>
      <div>
        <dt>Value</dt>
        <dd>
          <code>{record.value}</code>{" "}
          <CopyButton text={record.value} about={`The value for ${record.name}`} />
        </dd>
      </div>
      <div>
        <dt>{isVerified ? "Proved" : "Last checked"}</dt>
        <dd>
          <When time={isVerified ? verifiedAt : checkedAt} none="not yet" />
        </dd>
      </div>
    </dl>
  );
  return (
    <details open={added.has(id)}>
      <summary>{isVerified ? "TXT record" : "Record to publish"}</summary>
      {parts}
    </details>
  );
}

function Coverage() {
  return (
    <section class="prose">
      <h2>What covers a domain</h2>
      <p>
        <strong>Domain search:</strong> Have I Been Pwned answers for the whole domain at once, so a scan
        takes seconds whatever the number of addresses. The operator has to verify the domain there, too.
      </p>
      <p>
        <strong>Address by address:</strong> each address is looked up alone, as fast as the subscription of
        Have I Been Pwned allows, so that a scan of many addresses takes long. Breaches that are marked as
        sensitive are not found this way.
      </p>
    </section>
  );
}

function AddDomain({ onClose, onDone }: Ends) {
  const add = async (fields: FormData): Promise<void> => {
    const written = domainIn(String(fields.get("name")));
    const { id, name } = await call("POST /dashboard/domains", { body: { name: written } });
    added.add(id);
    say(`${inBothForms(name)} was added. Publish its record in DNS, then check it.`);
    onDone();
  };
  return (
    <FormDialog title="Add domain" submit="Add domain" onSubmit={add} onClose={onClose}>
      <TextField
        label="Name"
        name="name"
        required
        maxLength={253}
        missing="Write the name of a domain, such as example.com."
        placeholder="example.com"
        onChange={({ currentTarget }) => {
          currentTarget.value = domainIn(currentTarget.value);
        }}
        autocomplete="off"
        hint="The part after the @ of your addresses."
      />
    </FormDialog>
  );
}

function RemoveDomain({ domain, onClose, onDone }: Ends & { domain: Domain }) {
  const remove = async (): Promise<void> => {
    await call("DELETE /dashboard/domains/{id}", { path: { id: domain.id } });
    say(`${domain.name} was removed.`);
    onDone();
  };
  return (
    <FormDialog title={`Remove ${domain.name}?`} submit="Remove" isDanger onSubmit={remove} onClose={onClose}>
      <p>
        To add it again you have to prove it again, with another record. A domain with addresses cannot be
        removed: remove those first.
      </p>
    </FormDialog>
  );
}
