import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Failure } from "../../api/failure.ts";
import { domainChoices } from "../../components/choices.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { type Choice, EmailField, SelectField, TextField } from "../../components/field.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { useData } from "../../components/use-data.ts";
import { addressOf } from "../../place.ts";
import { asciiOf, inBothForms } from "../../text/domain-name.ts";
import { isolated } from "../../translation.ts";
import { TeamField } from "./change.tsx";

/** The id of the domain that an address is of, if it is among them. */
function domainOf(address: string, domains: readonly Choice[]): string | undefined {
  const name = asciiOf(address.trim().toLowerCase().split("@").at(-1) ?? "");
  const first = (label: string): string | undefined => label.split(" ")[0];
  return domains.find(({ label }) => first(label) === first(inBothForms(name)))?.value;
}

export function AddEmail(ends: Ends) {
  const offered = useData("", domainChoices);
  const { value: domains = [] } = offered;
  const [address, setAddress] = useState("");
  const [domain, setDomain] = useState("");
  // People type an address; its domain follows from it, whenever the domains are there to choose from.
  const followed = domainOf(address, domains);

  const add = async (fields: FormData): Promise<string> => {
    const email = String(fields.get("email")).trim();
    const ownerName = String(fields.get("ownerName")).trim();
    const teamId = Number(fields.get("teamId"));
    // Whoever is faster than the list of domains need not wait for it.
    const domainId = fields.get("domainId") || domainOf(email, await domainChoices());
    if (domainId === undefined) {
      const name = email.split("@").at(-1);
      const sentence = `${name} is not one of your domains: add it under Domains first.`;
      throw new Failure(sentence, { status: 400, field: "email" });
    }
    const body = {
      email,
      domainId: Number(domainId),
      ...(ownerName !== "" && { ownerName }),
      ...(teamId > 0 && { teamId }),
    };
    await call("POST /v1/emails", { body });
    return `${isolated(email)} is watched now. The next scan checks it.`;
  };

  const none = { value: "", label: offered.isLoading ? "Loading …" : "Choose one" };
  return (
    <FormDialog {...ends} title="Add e-mail" submit="Add e-mail" onSubmit={add}>
      <FailureNotice failure={offered.failure} retry={offered.reload} />
      <EmailField onInput={(event) => setAddress(event.currentTarget.value)} />
      <SelectField
        label="Domain"
        name="domainId"
        choices={[none, ...domains]}
        chosen={followed ?? domain}
        onChange={setDomain}
        hint={
          offered.value?.length === 0 ? (
            <>
              There is no domain yet: <a href={addressOf("/domains")}>add one first</a>.
            </>
          ) : (
            "The domain of the address. It has to be verified."
          )
        }
      />
      <TextField label="Owner" name="ownerName" maxLength={200} hint="Optional: whose address it is." />
      <TeamField />
    </FormDialog>
  );
}
