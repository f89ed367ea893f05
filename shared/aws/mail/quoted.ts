/** In characters: too short for a message of its own. */
const maximum = 60;

/** Between letters, where programs see the name of a domain. */
const fullStop = /(?<=[\p{L}\p{N}])\.(?=[\p{L}\p{N}])/gu;

/**
 * A name such that no program makes a link of a domain in it. A character that nobody sees stands before each
 * full stop.
 */
export const unlinked = (name: string): string => name.replaceAll(fullStop, "\u200b.");

/**
 * A name in a mail to somebody who may not know who has chosen it: in quotation marks that it cannot close,
 * and without links.
 */
export const quoted = (name: string): string => {
  const characters = [...name];
  const short = characters.length <= maximum ? name : `${characters.slice(0, maximum - 1).join("")}…`;
  return `“${unlinked(short.replaceAll(/[“”„"]/g, "'"))}”`;
};
