/** The addresses of a seeded organization, by their index from 0. */

export const domainNames = ["one.seeded.example", "two.seeded.example", "three.seeded.example"];

const firstNames = ["ada", "grace", "alan", "edsger", "barbara", "katherine", "john", "margaret"];
const lastNames = ["lovelace", "hopper", "turing", "dijkstra", "liskov", "johnson", "mccarthy"];

export const addressOf = (index: number): string =>
  `${firstNames[index % firstNames.length]}.${lastNames[(index * 7) % lastNames.length]}.${index}` +
  `@${domainNames[domainIndexOf(index)]}`;

/** Index of an address's domain: 50 % have the first, 49 % the second, 1 % the third. */
export const domainIndexOf = (index: number): number => (index % 100 === 99 ? 2 : index % 2);

/** One address in 500 is disabled, so that no scan checks it. */
export const isActive = (index: number): boolean => index % 500 !== 250;
