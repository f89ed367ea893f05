/** A notice as HTML, with the same content as its text. */
import { button, htmlPage, lines, linked } from "../../../aws/mail/html.ts";
import { escaped, senderName } from "../../../aws/mail/mail.ts";
import { attribution, type Notice, severityColors } from "../notice.ts";

export const htmlOf = (notice: Notice, unsubscribeUrl: string | undefined): string => {
  const { summary, headline, lead, facts, items, advice, link, organizationName, severity } = notice;
  const { source, license } = attribution;
  return htmlPage({
    title: summary,
    headline: escaped(headline),
    rows: [
      escaped(lead),
      ...(facts.length === 0 ? [] : [facts.map(factInHtml).join("<br>\n")]),
      ...items.map(itemInHtml),
      ...(advice === undefined ? [] : [lines(advice.split("\n"))]),
      ...(link === undefined ? [] : [button(link)]),
    ],
    color: severityColors[severity ?? "none"],
    footer: [
      `${senderName} for ${escaped(organizationName)}`,
      `Breach data: ${linked(source)}, ${linked(license)}`,
      ...(unsubscribeUrl === undefined ? [] : [linked({ label: "Unsubscribe", url: unsubscribeUrl })]),
    ].join("<br>\n"),
  });
};

const itemInHtml = ({ title, details, url }: Notice["items"][number]): string => {
  const name = url === undefined ? escaped(title) : linked({ label: title, url });
  return [`<strong>${name}</strong>`, ...details.map(escaped)].join("<br>\n");
};

/** `bdi` keeps a name that is written from right to left from reordering the text around it. */
const factInHtml = ({ label, value }: Notice["facts"][number]): string =>
  `${escaped(label)}: <bdi>${escaped(value)}</bdi>`;
