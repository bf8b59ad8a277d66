import { InvalidInputError, KeelsonError } from '../../src/base/errors.js';

/** A file that violates its format. The message contains positions, never a cell. */
export function damaged(
  source: string, where: string, what: string,
  details: Readonly<Record<string, unknown>> = {},
): InvalidInputError {
  return new InvalidInputError(
    `${source}, ${where}: ${what}: the file is damaged, make it again`, { source, ...details },
  );
}

/**
 * Returns the result of `decode`. A library's message may hold cells of the file, so its error
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
