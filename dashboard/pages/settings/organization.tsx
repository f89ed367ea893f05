import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { FailureNotice, Loading } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import { useAction } from "../../components/use-action.ts";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { isAdmin, loadSession } from "../../session.ts";
import { count, money } from "../../text/words.ts";
import { LapsedMeaning } from "../lapsed.tsx";

type Details = Reply<"GET /dashboard/organization">;

const frequencies = [
  { value: "day", label: "Every day" },
  { value: "week", label: "Every week" },
  { value: "never", label: "Never: by hand only" },
] as const;

export function Organization() {
  const data = useData("", (signal) => call("GET /dashboard/organization", {}, { signal }));
  const { value, failure, reload } = data;
  if (failure !== undefined) return <FailureNotice failure={failure} retry={reload} />;
  if (value === undefined) return <Loading what="the organization" />;
  return (
    <div class="prose">
      {isAdmin.value ? <Form details={value} onDone={reload} /> : <Facts details={value} />}
      <Subscription {...value.billing} />
    </div>
  );
}

function Form({ details, onDone }: { details: Details; onDone: () => void }) {
  const action = useAction();
  const save = async (fields: FormData): Promise<void> => {
    const scanEvery = frequencies.find(({ value }) => value === fields.get("scanEvery"))?.value;
    await call("PATCH /dashboard/organization", {
      body: { name: String(fields.get("name")), ...(scanEvery !== undefined && { scanEvery }) },
    });
    say("The organization was changed.");
    onDone();
    await loadSession();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        void action.run(() => save(fields));
      }}
    >
      <TextField label="Name" name="name" required maxLength={100} defaultValue={details.name} dir="auto" />
      <SelectField
        label="Automatic scans"
        name="scanEvery"
        choices={frequencies}
        chosen={details.scanEvery}
        hint={<NextScan at={details.nextScanAt} />}
      />
      {action.failure !== undefined && <FailureNotice failure={action.failure} />}
      <Button isSubmit kind="primary" isBusy={action.isBusy}>
        Save
      </Button>
    </form>
  );
}

function NextScan({ at }: { at: string | null }) {
  if (at === null) return <>No scan is scheduled.</>;
  return (
    <>
      The next one begins <When time={at} />, or up to 15 minutes later.
    </>
  );
}

function Facts({ details }: { details: Details }) {
  return (
    <dl class="facts">
      <div>
        <dt>Name</dt>
        <dd>
          <bdi>{details.name}</bdi>
        </dd>
      </div>
      <div>
        <dt>Automatic scans</dt>
        <dd>
          {frequencies.find(({ value }) => value === details.scanEvery)?.label}.{" "}
          <NextScan at={details.nextScanAt} />
        </dd>
      </div>
      <p>Only admins can change this.</p>
    </dl>
  );
}

const statuses: Partial<Record<Details["billing"]["status"], string>> = {
  trialing: "On trial",
  active: "Active",
  past_due: "Active, but a payment is overdue",
};

function Subscription({
  status,
  trialEndsAt,
  interval,
  seatPriceCents,
  seatAllowance,
  activeCount,
}: Details["billing"]) {
  const seats = Math.max(1, activeCount);
  return (
    <section>
      <h2>Subscription</h2>
      <dl class="facts">
        <div>
          <dt>State</dt>
          <dd>
            {statuses[status] ?? "Lapsed"}
            {status === "trialing" && trialEndsAt !== null && (
              <>
                , ends <When time={trialEndsAt} />
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Seats</dt>
          <dd>
            {count(activeCount, "enabled address", "enabled addresses")}
            {seatAllowance !== null && ` of ${seatAllowance} allowed`}, {count(seats, "seat")}
          </dd>
        </div>
        <div>
          <dt>Price</dt>
          <dd>
            {money(seatPriceCents)} per seat, {money(seats * seatPriceCents)} per {interval} in all
          </dd>
        </div>
      </dl>
      <h3>If the subscription lapses</h3>
      <LapsedMeaning />
    </section>
  );
}
