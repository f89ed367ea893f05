/** Messages to the owner of a breached address: e-mails to the address that they are about (alerting/owners). */
import type { Kind, OwnersForm } from "../kind.ts";

export const owner: Kind<OwnersForm["config"]> = {
  label: "owner",
  isForPeople: true,
  mayTellOwners: false,
  isSetUp: false,
  destinationOf: () => ({ field: "recipients", value: [] }),
};
