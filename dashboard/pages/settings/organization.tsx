import { sendChanges } from "../../api/changes.ts";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { Fact } from "../../components/facts.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Pending } from "../../components/notice.tsx";
import { useAction } from "../../components/use-action.ts";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { isAdmin, isMember, loadSession } from "../../session.ts";
import { count, money } from "../../text/words.ts";
import { LapsedMeaning } from "../lapsed.tsx";

type Details = Reply<"GET /dashboard/organization">;

const frequencies = [
  { value: "day", label: "Every day" },
  { value: "week", label: "Every week" },
  { value: "never", label: "Only after new breaches" },
] as const;

/** `chosen` is among them, also where the browser knows it by another name. */
const timeZones = (chosen: string) =>
  [...new Set(["UTC", chosen, ...Intl.supportedValuesOf("timeZone")])].map((value) => ({
    value,
    label: value.replaceAll("_", " "),
  }));

export function Organization() {
  const data = useData("", (signal) => call("GET /dashboard/organization", {}, { signal }));
  const { value, reload } = data;
  if (value === undefined) return <Pending data={data} what="the organization" />;
  return (
    <div class="prose">
      <Pending data={data} what="the organization" />
      {isAdmin.value ? <Settings details={value} onDone={reload} /> : <Facts details={value} />}
      <Subscription {...value.billing} />
    </div>
  );
}

function Settings({ details, onDone }: { details: Details; onDone: () => void }) {
  const action = useAction();
  const save = async (fields: FormData): Promise<string> => {
    const chosen = frequencies.find(({ value }) => value === fields.get("scanEvery"));
    const typed = {
      name: String(fields.get("name")),
      scanEvery: chosen?.value ?? details.scanEvery,
      timeZone: String(fields.get("timeZone")),
    };
    await sendChanges(details, typed, (body) => call("PATCH /dashboard/organization", { body }));
    await loadSession();
    return "The organization was changed.";
  };
  return (
    <Form submit="Save" action={action} onSubmit={save} onDone={onDone}>
      <TextField label="Name" name="name" required maxLength={100} defaultValue={details.name} dir="auto" />
      <SelectField
        label="Automatic scans"
        name="scanEvery"
        choices={frequencies}
        chosen={details.scanEvery}
        hint={<NextScan at={details.nextScanAt} />}
      />
      <SelectField
        label="Time zone"
        name="timeZone"
        choices={timeZones(details.timeZone)}
        chosen={details.timeZone}
        hint="Alerts of a day or a week go at 07:00 there."
      />
    </Form>
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
    <>
      <dl class="facts">
        <Fact name="Name">
          <bdi>{details.name}</bdi>
        </Fact>
        <Fact name="Automatic scans">
          {frequencies.find(({ value }) => value === details.scanEvery)?.label}.{" "}
          <NextScan at={details.nextScanAt} />
        </Fact>
        <Fact name="Time zone">{details.timeZone.replaceAll("_", " ")}</Fact>
      </dl>
      {isMember.value && <p>Only admins can change this.</p>}
    </>
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
        <Fact name="State">
          {statuses[status] ?? "Lapsed"}
          {status === "trialing" && trialEndsAt !== null && (
            <>
              , ends <When time={trialEndsAt} />
            </>
          )}
        </Fact>
        <Fact name="Seats">
          {count(activeCount, "enabled address", "enabled addresses")}
          {seatAllowance !== null && ` of ${seatAllowance} allowed`}, {count(seats, "seat")}
        </Fact>
        {seatPriceCents > 0 && (
          <Fact name="Price">
            {money(seatPriceCents)} per seat, {money(seats * seatPriceCents)} per {interval} in all
          </Fact>
        )}
      </dl>
      <h3>If the subscription lapses</h3>
      <LapsedMeaning />
    </section>
  );
}
