/** Alerts as Slack messages, through an incoming webhook. Source: docs.slack.dev, "Block Kit" and "Formatting message text". */
import { attribution, type Notice } from "./notice.ts";
import { type Outcome, post } from "./outbound.ts";

type MarkdownText = { type: "mrkdwn"; text: string; verbatim: true };
type Block =
  | { type: "header"; text: { type: "plain_text"; text: string; emoji: false } }
  | { type: "section"; text: MarkdownText }
  | { type: "context"; elements: MarkdownText[] };
export type SlackMessage = { text: string; blocks: Block[]; unfurl_links: false; unfurl_media: false };

/** Breaches that a message shows; a channel is no place for more. Slack itself allows 50 blocks. */
const maximumItems = 10;

/** Longest parts of a section's text once they are escaped; Slack allows 3000 characters in all. */
const maximumTitle = 900;
const maximumText = 2000;

/** Posts a notice to a Slack webhook; the guard and the deadline are those of `post`. Nothing is thrown. */
export const send = (webhookUrl: string, notice: Notice): Promise<Outcome> =>
  post({ url: webhookUrl, headers: {}, body: JSON.stringify(messageOf(notice)) });

/** A notice as the body of the request. `text` is what notifications show. */
export const messageOf = ({
  summary,
  headline,
  lead,
  items,
  advice,
  organizationName,
}: Notice): SlackMessage => {
  const more = items.length - maximumItems;
  const { source, license } = attribution;
  return {
    text: escaped(summary, maximumText),
    blocks: [
      { type: "header", text: { type: "plain_text", text: headline, emoji: false } },
      section(escaped(lead, maximumText)),
      ...items
        .slice(0, maximumItems)
        .map(({ title, detail }) =>
          section(`*${escaped(title, maximumTitle)}*\n${escaped(detail, maximumText)}`),
        ),
      ...(more > 0 ? [section(`… and ${more} more.`)] : []),
      ...(advice === undefined ? [] : [section(escaped(advice, maximumText))]),
      {
        type: "context",
        elements: [
          markdown(
            `${escaped(organizationName, maximumText)} · Breach data: ${link(source)}, ${link(license)}`,
          ),
        ],
      },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
};

const section = (text: string): Block => ({ type: "section", text: markdown(text) });

/** `verbatim`: names of breached sites do not become links, nor words mentions. */
const markdown = (text: string): MarkdownText => ({ type: "mrkdwn", text, verbatim: true });

const link = ({ name, url }: { name: string; url: string }): string => `<${url}|${name}>`;

/** Slack's markup has entities for these three; formatting characters cannot be escaped, so look-alikes take their place. */
const replacements: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "*": "∗",
  _: "＿",
  "~": "∼",
  "`": "ˋ",
};

/** Text that Slack shows as it is, cut so that its escaped form has at most `maximum` characters. */
const escaped = (text: string, maximum: number): string => {
  let result = "";
  for (const character of text) {
    const piece = replacements[character] ?? character;
    if (result.length + piece.length >= maximum) return `${result}…`;
    result += piece;
  }
  return result;
};
