/** A copy of an object without these members. */
export function without<T extends object, Name extends keyof T>(
  value: T, ...names: readonly Name[]
): Omit<T, Name> {
  const copy = { ...value };
  for (const name of names) delete copy[name];
  return copy;
}
