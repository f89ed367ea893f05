import { useState } from "preact/hooks";
import { Button, CopyButton } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";

function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The secret that signs a webhook's deliveries. Nobody can read it later, so that it is shown while it is typed. */
export function SecretField({ hasSecret }: { hasSecret: boolean }) {
  const [secret, setSecret] = useState("");
  const [isRemoved, setRemoved] = useState(false);
  return (
    <>
      <TextField
        label="Secret"
        name="secret"
        value={secret}
        disabled={isRemoved}
        onInput={(event) => setSecret(event.currentTarget.value)}
        minLength={16}
        maxLength={1024}
        autocomplete="off"
        spellcheck={false}
        beside={
          <>
            <Button disabled={isRemoved} onClick={() => setSecret(randomSecret())}>
              Generate
            </Button>
            {secret !== "" && <CopyButton text={secret} about="The secret" />}
          </>
        }
        hint={
          hasSecret
            ? "There is one, which cannot be shown. Leave this empty to keep it. A new one has at least 16 characters."
            : "At least 16 characters. Copy it to the receiver now: it cannot be shown later. " +
              "Without a secret, deliveries are not signed."
        }
      />
      {hasSecret && (
        <label class="check">
          <input
            type="checkbox"
            name="removeSecret"
            checked={isRemoved}
            onChange={(event) => setRemoved(event.currentTarget.checked)}
          />{" "}
          Remove the secret: deliveries go out unsigned
        </label>
      )}
    </>
  );
}
