import { useRef, useState } from "preact/hooks";
import { sendChanges } from "../../api/changes.ts";
import { call } from "../../api/client.ts";
import type { Channel } from "../../api/routes.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { CheckField, SelectField, TextField } from "../../components/field.tsx";
import { severityChoices } from "../../components/severity.tsx";
import { flags, kinds } from "./channel.ts";
import { SecretField } from "./secret-field.tsx";

type Kind = Channel["channel"];
const kindChoices = Object.entries(kinds).map(([value, label]) => ({ value, label }));

const destinations: Record<Kind, { type: "text" | "url"; hint: string; placeholder: string }> = {
  email: {
    type: "text",
    placeholder: "security@example.com",
    hint: "Up to 20 addresses, separated by commas.",
  },
  slack: {
    type: "url",
    placeholder: "https://hooks.slack.com/services/…",
    hint: "The URL of a Slack incoming webhook. It is not shown again.",
  },
  webhook: {
    type: "url",
    placeholder: "https://hooks.example.com/breaches",
    hint: "A public HTTPS URL. Only its beginning, up to the host, is shown later.",
  },
};

const groupings = [
  { value: "scan", label: "At most two messages for a scan" },
  { value: "address", label: "One message for each address" },
  { value: "day", label: "Every day at 07:00, by Settings, Organization" },
  { value: "week", label: "Every Monday at 07:00, by Settings, Organization" },
];

/** Of a webhook: its grouping and, after a space, `details`. */
const events = [
  { value: "address", label: "One event for each address" },
  { value: "address details", label: "One for each address, with details" },
  { value: "scan details", label: "One for each scan and breach, with details" },
];

type Options = Channel["options"];

type Properties = Ends & { channel?: Channel };

/** Adds a channel, or changes one. What is secret stays as it is unless something else is typed. */
export function ChannelDialog({ channel, onClose, onDone }: Properties) {
  const [kind, setKind] = useState<Kind>(channel?.channel ?? "email");
  const { type, hint, placeholder } = destinations[kind];
  const isKept = channel?.channel === kind;
  // A channel that was added stays when its options are refused: saving again changes it.
  const id = useRef(channel?.id);
  const shown = useRef<Partial<Channel>>(channel ?? {});
  const recipients = channel !== undefined && "recipients" in channel.config ? channel.config.recipients : [];

  const save = async (fields: FormData): Promise<string> => {
    const typed = String(fields.get("destination")).trim();
    const destination = typed === recipients.join(", ") && isKept ? "" : typed;
    const notifications = Object.fromEntries(
      flags.map(({ name }) => [name, fields.get(name) === "on"]),
    ) as Record<(typeof flags)[number]["name"], boolean>;
    const config = configOf(kind, destination, secretOf(fields));
    if (id.current === undefined) {
      // The contract's body is one of three forms, told apart by its kind.
      const body = { channel: kind, config, ...notifications } as never;
      id.current = (await call("POST /v1/alert-configs", { body })).id;
    } else {
      const path = { id: id.current };
      const changes = {
        ...notifications,
        ...(Object.keys(config).length > 0 && { config }),
        ...(!isKept && { channel: kind }),
      };
      await sendChanges<object>(shown.current, changes, (body) =>
        call("PATCH /v1/alert-configs/{id}", { path, body }),
      );
      // From now on the form is what was typed last.
      shown.current = {};
    }
    const path = { id: id.current };
    const options = optionsOf(fields);
    try {
      await sendChanges((isKept && channel.options) || {}, options, () =>
        call("PUT /v1/alert-configs/{id}/options", { path, body: options }),
      );
    } finally {
      onDone();
    }
    return channel === undefined
      ? "The channel was added. Send a test to see whether it works."
      : "The channel was changed.";
  };

  return (
    <FormDialog
      title={channel === undefined ? "Add channel" : "Edit channel"}
      submit={channel === undefined ? "Add channel" : "Save"}
      onSubmit={save}
      onClose={onClose}
    >
      <SelectField
        label="Kind"
        name="kind"
        choices={kindChoices}
        chosen={kind}
        onChange={(value) => setKind(value as Kind)}
      />
      <TextField
        key={kind}
        label="Destination"
        name="destination"
        type={type}
        required={!isKept || kind === "email"}
        placeholder={placeholder}
        defaultValue={kind === "email" ? recipients.join(", ") : ""}
        autocomplete="off"
        hint={isKept && kind !== "email" ? "Leave this empty to keep the current one." : hint}
      />
      <TextField
        label="Name"
        name="name"
        maxLength={100}
        defaultValue={channel?.options.name ?? ""}
        autocomplete="off"
        dir="auto"
        hint="Optional, such as the team that reads it."
      />
      {kind === "webhook" && (
        <SecretField
          hasSecret={channel !== undefined && "hasSecret" in channel.config && channel.config.hasSecret}
        />
      )}
      <fieldset>
        <legend>Alert of</legend>
        {flags.map(({ name, label, isDefault }) => (
          <CheckField key={name} name={name} label={label} isChecked={channel?.[name] ?? isDefault} />
        ))}
      </fieldset>
      <OptionFields key={kind} kind={kind} options={isKept ? channel?.options : undefined} />
    </FormDialog>
  );
}

/** Which new breaches a channel is told of, how often, and in which words. */
function OptionFields({ kind, options }: { kind: Kind; options: Options | undefined }) {
  const isWebhook = kind === "webhook";
  const sensitivities = [
    { value: "discreet", label: isWebhook ? "Not sent" : "Discreet: neither breach nor people are named" },
    { value: "named", label: "Like any other breach" },
  ];
  return (
    <details>
      <summary>Options</summary>
      <div class="fields">
        <SelectField
          label="Least severity"
          name="minSeverity"
          choices={severityChoices}
          chosen={options?.minSeverity ?? "low"}
          hint="Less severe breaches send no alert."
        />
        {isWebhook ? (
          <SelectField
            label="Events of new breaches"
            name="events"
            choices={events}
            chosen={`${options?.grouping ?? "address"}${options?.details ? " details" : ""}`}
            hint="Details are the severity, the people and their findings."
          />
        ) : (
          <SelectField
            label="How often"
            name="grouping"
            choices={groupings}
            chosen={options?.grouping ?? "scan"}
          />
        )}
        <SelectField
          label="Sensitive breaches"
          name="sensitive"
          choices={sensitivities}
          chosen={options?.sensitive ?? (isWebhook ? "named" : "discreet")}
        />
        {kind === "email" && (
          <CheckField
            label="Also write to each breached address"
            name="tellOwners"
            isChecked={options?.tellOwners ?? false}
          />
        )}
      </div>
    </details>
  );
}

const optionsOf = (fields: FormData): Options => {
  const [grouping, details] = String(fields.get("events") ?? fields.get("grouping")).split(" ");
  return {
    name: String(fields.get("name")).trim() || null,
    minSeverity: fields.get("minSeverity") as Options["minSeverity"],
    grouping: grouping as Options["grouping"],
    sensitive: fields.get("sensitive") as Options["sensitive"],
    tellOwners: fields.get("tellOwners") === "on",
    details: details !== undefined,
  };
};

/** The secret to set, empty to remove the present one. Undefined: it stays as it is. */
function secretOf(fields: FormData): string | undefined {
  if (fields.get("removeSecret") === "on") return "";
  return String(fields.get("secret") ?? "") || undefined;
}

/** The parts of a channel's config that were typed. */
function configOf(kind: Kind, destination: string, secret: string | undefined) {
  const isTyped = destination !== "";
  if (kind === "email") {
    const recipients = destination.split(/[\s,;]+/).filter((address) => address !== "");
    return isTyped ? { recipients } : {};
  }
  if (kind === "slack") return isTyped ? { webhookUrl: destination } : {};
  return { ...(isTyped && { url: destination }), ...(secret !== undefined && { secret }) };
}
