/**
 * Ascending ids in few bytes: each as the difference to the one before, seven bits a byte, the highest bit set on all bytes of a
 * number but its last.
 */
export const encodeIds = (ids: readonly number[]): Uint8Array => {
  const bytes: number[] = [];
  let before = 0;
  for (const id of ids) {
    // Differences can have more than the 32 bits that bit operations take.
    let rest = id - before;
    if (rest < 0) throw new Error("Ids must ascend");
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
    bytes.push(rest);
    before = id;
  }
  return Uint8Array.from(bytes);
};

export const decodeIds = (bytes: Uint8Array): number[] => {
  const ids: number[] = [];
  let before = 0;
  let difference = 0;
  let weight = 1;
  for (const byte of bytes) {
    difference += (byte % 128) * weight;
    weight *= 128;
    if (byte >= 128) continue;
    before += difference;
    ids.push(before);
    difference = 0;
    weight = 1;
  }
  return ids;
};
