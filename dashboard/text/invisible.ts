/** Text with the characters that nobody sees as signs: white space at an end as `␣`, others by their number. */
export const withoutInvisible = (text: string): string =>
  text
    .replace(/^ +| +$|(?<= ) +/g, (spaces) => "␣".repeat(spaces.length))
    .replace(/(?! )[\p{Z}\p{C}]/gu, (character) => {
      const number = character.codePointAt(0)?.toString(16).toUpperCase() ?? "";
      return `[U+${number.padStart(4, "0")}]`;
    });
