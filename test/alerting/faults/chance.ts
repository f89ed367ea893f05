/** Random choices that depend only on the seed and on the name of the choice. */
export class Chance {
  readonly #seed: string;
  constructor(seed: string) {
    this.#seed = seed;
  }

  /** From 0 to below 1. */
  draw(name: string): number {
    // FNV-1a, then the finalizer of MurmurHash3: a cryptographic hash would take a tenth of a simulation's
    // time.
    let hash = 0x811c9dc5;
    const text = `${this.#seed}/${name}`;
    for (let index = 0; index < text.length; index++) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
  }

  pick<T>(choices: readonly T[], name: string): T {
    return choices[Math.floor(this.draw(name) * choices.length)] as T;
  }
}
