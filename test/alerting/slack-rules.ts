/** Slack's rules for messages (docs.slack.dev, "Block Kit"), written independently of the product. */

type Text = { type?: unknown; text?: unknown };

/** What Slack would refuse in the body of a request to an incoming webhook; empty when Slack accepts it. */
export const slackFaults = (message: unknown): string[] => {
  const faults: string[] = [];
  const { text, blocks, attachments } = JSON.parse(JSON.stringify(message)) as {
    text: string;
    blocks: never[];
    attachments: { color: string; blocks: never[] }[];
  };
  const check = (holds: boolean, fault: string) => void (holds || faults.push(fault));
  check(typeof text === "string" && text.length > 0 && text.length <= 4000, "text");
  check(Array.isArray(blocks) && blocks.length >= 1 && blocks.length <= 50, "1 to 50 blocks");
  check(attachments.length <= 100, "at most 100 attachments");
  for (const { color, blocks: attached } of attachments) {
    check(/^#[0-9a-f]{6}$/.test(color), "color");
    check(attached.length >= 1 && attached.length <= 50, "1 to 50 blocks in an attachment");
  }
  const all = [...blocks, ...attachments.flatMap(({ blocks: attached }) => attached)];
  const length = (JSON.stringify(all).match(/"(?:text|url)":"(?:[^"\\]|\\.)*"/g) ?? []).join("").length;
  // What Slack was seen to take in all (github.com/slackapi/bolt-js/issues/2509).
  check(length <= 12_000, `${length} of 12,000 characters in all`);
  const checkText = (value: Text, types: string[], maximum: number, where: string) => {
    const { type, text: content } = value;
    check(types.includes(type as string), `${where}: type`);
    check(typeof content === "string" && content.length > 0, `${where}: empty`);
    if (typeof content !== "string") return;
    check(content.length <= maximum, `${where}: ${content.length} of ${maximum} characters`);
    check(content.isWellFormed(), `${where}: lone surrogate`);
    check(!/[^\P{Cc}\n]/u.test(content), `${where}: control character`);
  };
  for (const [index, block] of all.entries()) {
    const { type, text, elements } = block as { type: string; text: Text; elements: Text[] };
    const where = `block ${index}`;
    switch (type) {
      case "header":
        checkText(text, ["plain_text"], 150, where);
        break;
      case "section":
        checkText(text, ["plain_text", "mrkdwn"], 3000, where);
        break;
      case "context":
        check(elements.length >= 1 && elements.length <= 10, `${where}: 1 to 10 elements`);
        for (const element of elements) checkText(element, ["plain_text", "mrkdwn"], 3000, where);
        break;
      case "actions":
        check(elements.length >= 1 && elements.length <= 25, `${where}: 1 to 25 elements`);
        for (const element of elements as (Text & { url: string })[]) {
          check(element.type === "button" && element.url.length <= 3000, `${where}: button`);
          checkText(element.text as Text, ["plain_text"], 75, where);
        }
        break;
      default:
        faults.push(`${where}: ${type}`);
    }
  }
  return faults;
};
