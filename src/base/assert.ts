import { InvariantError } from './errors.js';

/**
 * States what must hold by construction. Never used on input from a socket, a file or a user,
 * and `why` never contains data.
 * @throws InvariantError when `condition` is false.
 */
export function assert(condition: boolean, why: string): asserts condition {
  if (!condition) throw new InvariantError(why);
}
