import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { EmailField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { useAction } from "../../components/use-action.ts";

const operatorCommand = "npm run admin -- user sign-in-link --org ID --user ID";

/** `isOther`: there is a way to sign in that comes first. */
type Properties = { canMail: boolean; email: string; isOther: boolean };

/** Asks for a link by e-mail; where none can be sent, says who has one. */
export function LinkRequest({ canMail, email, isOther }: Properties) {
  const action = useAction();
  const [sentTo, setSentTo] = useState<string>();
  if (!canMail) {
    return (
      <>
        <p>
          This service cannot send e-mail. Ask its operator for a sign-in link: it works once, for 15 minutes.
        </p>
        <p>
          <small>
            The operator runs <code>{operatorCommand}</code>
          </small>
        </p>
      </>
    );
  }
  if (sentTo !== undefined) {
    return (
      <div role="status">
        <p>
          If somebody has the address <bdi>{sentTo}</bdi>, a sign-in link is on its way. It works once, for 15
          minutes.
        </p>
        <p>
          <small>
            Nothing arrived? Look in your spam folder, or ask an admin or the operator for a link.
          </small>
        </p>
        <Button onClick={() => setSentTo(undefined)}>Use another address</Button>
      </div>
    );
  }
  return (
    <Form
      submit="Send sign-in link"
      action={action}
      kind={isOther ? "plain" : undefined}
      onSubmit={async (fields) => {
        const address = String(fields.get("email"));
        await call("POST /dashboard/sign-in/links", { body: { email: address } });
        setSentTo(address);
        return undefined;
      }}
    >
      <EmailField autocomplete="email webauthn" defaultValue={email} />
    </Form>
  );
}
