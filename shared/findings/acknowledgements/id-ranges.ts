/** A set of ids as ranges: first, last, first, last … ascending. Ids of one scan mostly follow each other. */
export class IdRanges {
  readonly flat: number[];

  constructor(flat: number[]) {
    this.flat = flat;
  }

  /** Of ranges [first, last] in any order that do not overlap. */
  static of(ranges: readonly (readonly number[])[]): IdRanges {
    const flat: number[] = [];
    for (const [first = 0, last = 0] of [...ranges].sort(([one = 0], [other = 0]) => one - other)) {
      if (flat.at(-1) === first - 1) flat[flat.length - 1] = last;
      else flat.push(first, last);
    }
    return new IdRanges(flat);
  }

  has(id: number): boolean {
    let low = 0;
    let high = this.flat.length / 2 - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if (id < (this.flat[2 * middle] ?? 0)) high = middle - 1;
      else if (id > (this.flat[2 * middle + 1] ?? 0)) low = middle + 1;
      else return true;
    }
    return false;
  }
}
