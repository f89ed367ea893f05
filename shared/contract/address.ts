/** The parts of an e-mail address. */

/** The part in front of the @. */
export const aliasOf = (address: string): string => address.slice(0, address.lastIndexOf("@"));

/** The domain of a normalized address: the part after the last @. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

/** The alias without what follows a `+`: `ada` of `ada+shop`. */
export const baseOf = (alias: string): string => {
  const at = alias.indexOf("+");
  return at > 0 ? alias.slice(0, at) : alias;
};

/** The address whose mailbox gets the mails of a normalized address: `ada@` of the sub-address `ada+shop@`. */
export const mailboxOf = (address: string): string => {
  const alias = aliasOf(address);
  return baseOf(alias) + address.slice(alias.length);
};
