/** Alerts as Slack messages (docs.slack.dev, "Block Kit" and "Formatting message text"). */
import type { Link } from "../../../aws/mail/html.ts";
import { attribution, type Notice, severityColors } from "../notice.ts";

type MarkdownText = { type: "mrkdwn"; text: string; verbatim: true };
type PlainText = { type: "plain_text"; text: string; emoji: false };
type Block =
  | { type: "header"; text: PlainText }
  | { type: "section"; text: MarkdownText | PlainText }
  | { type: "actions"; elements: { type: "button"; text: PlainText; url: string }[] }
  | { type: "context"; elements: MarkdownText[] };
export type SlackMessage = {
  text: string;
  blocks: Block[];
  /** One, because only attachments have a color. */
  attachments: { color: string; blocks: Block[] }[];
  unfurl_links: false;
  unfurl_media: false;
};

/** A message lists at most this many breaches, so that it stays readable; Slack allows 50 blocks. */
const maximumItems = 10;

/**
 * Limits in characters of the escaped text. A title, details and a link share a section, for which Slack allows 3000.
 */
const maximumTitle = 300;
const maximumSection = 2_900;
/**
 * Slack refuses messages of more than about 13,200 characters in all
 * (github.com/slackapi/bolt-js/issues/2509). The worst breaches come first, and leave each of the others this
 * many.
 */
const maximumSections = 7_500;
const leastOfSection = 650;
const maximumText = 1000;
/** Three facts share a section. */
const maximumFact = 600;
const maximumHeader = 150;

/** The body of the request. `text` is what a notification shows, `blocks` what the channel shows. */
export const messageOf = ({
  summary,
  headline,
  lead,
  facts,
  items,
  advice,
  link,
  organizationName,
  severity,
}: Notice): SlackMessage => {
  const more = items.length - maximumItems;
  const { source, license } = attribution;
  return {
    text: escaped(summary, maximumText),
    blocks: [{ type: "header", text: plain(escapedPlain(headline, maximumHeader)) }],
    attachments: [
      {
        color: severityColors[severity ?? "none"],
        blocks: [
          section(escaped(lead, maximumText)),
          ...(facts.length === 0 ? [] : [factsSection(facts)]),
          ...itemSections(items.slice(0, maximumItems)),
          ...(more > 0 ? [section(`… and ${more} more.`)] : []),
          ...(advice === undefined ? [] : [section(escaped(advice, maximumText))]),
          ...(link === undefined ? [] : [button(link)]),
          {
            type: "context",
            elements: [
              markdown(
                `${escaped(organizationName, maximumText)} · Breach data: ${linked(source)}, ${linked(license)}`,
              ),
            ],
          },
        ],
      },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
};

const button = ({ label, url }: Link): Block => ({
  type: "actions",
  elements: [{ type: "button", text: plain(label), url }],
});

const section = (text: string): Block => ({ type: "section", text: markdown(text) });

/** `verbatim` keeps Slack from turning names of sites into links and words into mentions. */
const markdown = (text: string): MarkdownText => ({ type: "mrkdwn", text, verbatim: true });

const plain = (text: string): PlainText => ({ type: "plain_text", text, emoji: false });

/** As plain text, in which an address with `_` or `*` stays exact. */
const factsSection = (facts: Notice["facts"]): Block => {
  const lines = facts.map(({ label, value }) => `${label}: ${escapedPlain(value, maximumFact)}`);
  return { type: "section", text: plain(lines.join("\n")) };
};

const itemSections = (items: Notice["items"]): Block[] => {
  let left = maximumSections;
  return items.map((item, index) => {
    const lengthBehind = leastOfSection * (items.length - index - 1);
    const text = itemText(item, Math.min(maximumSection, left - lengthBehind));
    left -= text.length;
    return section(text);
  });
};

const itemText = (
  { title, details, url, urlLabel = "Open the finding" }: Notice["items"][number],
  maximum: number,
): string => {
  const name = `*${escaped(title, maximumTitle)}*`;
  const link = url === undefined ? [] : [linked({ label: urlLabel, url })];
  const room = [name, ...link].reduce((left, line) => left - line.length - 1, maximum);
  return [name, escaped(details.join("\n"), room), ...link].filter((line) => line !== "").join("\n");
};

/** A link of ours: neither the label nor the url is cut. */
const linked = ({ label, url }: Link): string => `<${url.replaceAll("&", "&amp;")}|${label}>`;

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Slack has entities for `&`, `<` and `>`, but none for formatting characters: they become look-alikes. */
const replacements: Readonly<Record<string, string>> = {
  ...entities,
  "*": "∗",
  _: "＿",
  "~": "∼",
  "`": "ˋ",
};

/** Text without markup for a Markdown text, cut so that its escaped form has at most `maximum` characters. */
const escaped = (text: string, maximum: number): string => cut(text, maximum, replacements);

/** The same for a plain text, in which nothing but links and mentions is markup. */
const escapedPlain = (text: string, maximum: number): string => cut(text, maximum, entities);

/** Slack takes no mentions from such texts. Others that take its messages do. */
const mentions = /(?<![\w.%+-])@(?=(?:all|channel|everyone|here)\b)/giu;

const cut = (text: string, maximum: number, pieces: Readonly<Record<string, string>>): string => {
  let result = "";
  for (const character of text.replace(mentions, "＠")) {
    const piece = pieces[character] ?? character;
    if (result.length + piece.length >= maximum) return `${result}…`;
    result += piece;
  }
  return result;
};
