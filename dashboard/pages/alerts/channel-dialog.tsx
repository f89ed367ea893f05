import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Channel } from "../../api/routes.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { CheckField, SelectField, TextField } from "../../components/field.tsx";
import { say } from "../../components/status.tsx";
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
    hint: "The url of an incoming webhook of Slack. It is not shown again.",
  },
  webhook: {
    type: "url",
    placeholder: "https://hooks.example.com/breaches",
    hint: "Public HTTPS. Only its origin is shown afterwards.",
  },
};

type Properties = { channel?: Channel; onClose: () => void; onDone: () => void };

/** Adds a channel, or changes one. What is secret stays as it is unless something else is typed. */
export function ChannelDialog({ channel, onClose, onDone }: Properties) {
  const [kind, setKind] = useState<Kind>(channel?.channel ?? "email");
  const { type, hint, placeholder } = destinations[kind];
  const isKept = channel?.channel === kind;
  const recipients = channel !== undefined && "recipients" in channel.config ? channel.config.recipients : [];

  const save = async (fields: FormData): Promise<void> => {
    const destination = String(fields.get("destination")).trim();
    const told = Object.fromEntries(flags.map(({ name }) => [name, fields.get(name) === "on"])) as Record<
      (typeof flags)[number]["name"],
      boolean
    >;
    const config = configOf(kind, destination, secretOf(fields));
    if (channel === undefined) {
      // The contract's body is one of three forms, told apart by its kind.
      await call("POST /v1/alert-configs", { body: { channel: kind, config, ...told } as never });
      say("The channel was added. Send a test to see whether it works.");
    } else {
      const body = {
        ...told,
        ...(Object.keys(config).length > 0 && { config }),
        ...(!isKept && { channel: kind }),
      };
      await call("PATCH /v1/alert-configs/{id}", { path: { id: channel.id }, body });
      say("The channel was changed.");
    }
    onDone();
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
        hint={isKept && kind !== "email" ? "Leave it empty to keep the present one." : hint}
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
    </FormDialog>
  );
}

/** The secret to set, empty to remove the present one. Undefined: it stays as it is. */
function secretOf(fields: FormData): string | undefined {
  if (fields.get("removeSecret") === "on") return "";
  return String(fields.get("secret") ?? "") || undefined;
}

/** The parts of a channel's config that were typed. */
function configOf(kind: Kind, destination: string, secret: string | undefined) {
  if (kind === "email") {
    return { recipients: destination.split(/[\s,;]+/).filter((address) => address !== "") };
  }
  if (kind === "slack") return destination === "" ? {} : { webhookUrl: destination };
  return { ...(destination !== "" && { url: destination }), ...(secret !== undefined && { secret }) };
}
