/** One line of at most `maximum` characters, without characters that hide or reorder the text around them. */
export const asLine = (text: string, maximum: number, ifEmpty = "(no text)"): string => {
  const line = text
    .toWellFormed()
    // All format characters except the joiner and non-joiner, which some scripts and emoji need.
    .replace(/[^\P{Cf}\u200c\u200d]/gu, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  // Slack refuses empty texts; joiners alone show nothing.
  if (/^(?:\u200c|\u200d|\s)*$/u.test(line)) return ifEmpty;
  const characters = [...line];
  return characters.length <= maximum ? line : `${characters.slice(0, maximum - 1).join("")}…`;
};
