/**
 * Sends the fields in which a form differs from what it showed at first, if there are any: somebody else may
 * have changed the others meanwhile.
 */
export async function sendChanges<Fields extends object>(
  shown: Partial<Fields>,
  fields: Fields,
  send: (changes: Partial<Fields>) => Promise<unknown>,
): Promise<void> {
  const names = (Object.keys(fields) as (keyof Fields)[]).filter((name) => fields[name] !== shown[name]);
  if (names.length === 0) return;
  await send(Object.fromEntries(names.map((name) => [name, fields[name]])) as Partial<Fields>);
}
