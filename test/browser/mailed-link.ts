import { linkIn, mailsTo } from "../dashboard/outbox.ts";
import { eventually } from "../service/eventually.ts";

/** The link in the only mail to an address. */
export const mailedLink = async (address: string): Promise<string> => {
  const [mail = ""] = await eventually(
    () => mailsTo(address),
    (mails) => mails.length === 1,
  );
  return linkIn(mail).href;
};
