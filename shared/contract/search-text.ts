/** How texts are compared when people search. */

/** Of a query, and of what it is looked up by. */
const minimumCharacters = 2;

/** Letters that Unicode does not decompose, and what people type instead. */
const plainLetters: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ł: "l",
  ı: "i",
  ς: "σ",
};

/** A text without case and accents: compatibility decomposition (Unicode Standard Annex 15, NFKD) without its marks. */
export const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[ßæœøđðþħłıς]/g, (letter) => plainLetters[letter] ?? letter);

/**
 * A name can have 200 characters. Compatibility decomposition makes up to 18 of each, and a sort key has
 * 1,024 bytes.
 */
const maximumWordCharacters = 40;
/** So that the rows of two names, an old and a new one, fit into a transaction. */
export const maximumWords = 20;

/**
 * The words of a text: the runs of letters and digits. Words of one letter each, such as those of 王 明, form
 * one word: each alone is too short to search by.
 */
export const wordsOf = (text: string): string[] => {
  const words = fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  const cut = [...new Set(words.map((word) => [...word].slice(0, maximumWordCharacters).join("")))];
  return cut.some(isLongEnough) ? cut : [cut.join("")];
};

export const isLongEnough = (text: string): boolean => [...text].length >= minimumCharacters;

/** Whether a query has as many characters as finding takes. */
export const isQuery = (text: string): boolean => isLongEnough(fold(text).trim().replace(/^@/, ""));
