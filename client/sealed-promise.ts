import type { StudyDocument } from '../src/wire/study-document.js';

/**
 * The promises of a sealed study and their limits, in one paragraph for people who contribute.
 * @param document - the study's verified facts.
 * @returns null for a study that is not sealed.
 * @example
 * const promise = promiseOf(await contributor.study());
 */
export function promiseOf(
  { sealed }: { readonly sealed?: StudyDocument['sealed'] | undefined },
): string | null {
  if (sealed === undefined) return null;
  const names = sealed.servers.map(({ name }) => name).join(', ');
  return `Three servers (${names}) hold shares of the rows, and none of them sees a row. `
    + 'This protects the rows from somebody who reads all of one server. It does not protect '
    + 'against two of them together, nor against a server that runs changed code.';
}
