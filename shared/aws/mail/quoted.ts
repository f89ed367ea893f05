/** In characters: too short for a message of its own. */
const maximum = 60;

/** Between letters, where programs see the name of a domain. */
const fullStop = /(?<=[\p{L}\p{N}])\.(?=[\p{L}\p{N}])/gu;

/**
 * A name in a mail to somebody who may not know who has chosen it: in quotation marks that it cannot close, and, with a character that
 * nobody sees, such that no program makes a link of a domain in it.
 */
export const quoted = (name: string): string => {
  const characters = [...name];
  const short = characters.length <= maximum ? name : `${characters.slice(0, maximum - 1).join("")}…`;
  return `“${short.replaceAll(/[“”„"]/g, "'").replaceAll(fullStop, "\u200b.")}”`;
};
