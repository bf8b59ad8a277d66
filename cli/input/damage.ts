import { InvalidInputError, KeelsonError } from '../../src/base/errors.js';

/** A file that is not as its format says. The message holds positions, never a cell. */
export function damaged(
  source: string, where: string, what: string,
  details: Readonly<Record<string, unknown>> = {},
): InvalidInputError {
  return new InvalidInputError(
    `${source}, ${where}: ${what}: the file is damaged, make it again`, { source, ...details },
  );
}

/**
 * What `decode` returns. A library that fails says so in words that may hold cells, so its error
 * becomes ours.
 */
export async function decoded<Result>(
  source: string, where: string, decode: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await decode();
  } catch (error) {
    if (error instanceof KeelsonError) throw error;
    throw damaged(source, where, 'it cannot be decoded');
  }
}
