import { InvariantError } from '../../../src/base/errors.js';
import { equalBytes } from '../../../src/base/bytes.js';
import { keysOfRotation, type KeyRotation } from '../../../src/signing/index.js';
import { all, plainBytes, run, sql, type Steps } from './steps.js';

/** Oldest first. */
export function* readRotations(): Steps<KeyRotation[]> {
  return (yield* all(sql.selectFrom('key_rotations').select('record').orderBy('rotation')))
    .map(({ record }) => plainBytes(record).slice());
}

/**
 * Appends in one transaction. @throws InvariantError for a record that does not continue the last
 * one.
 */
export function* addRotation(record: KeyRotation, nowMs: number): Steps<void> {
  const before = yield* readRotations();
  const last = before.at(-1);
  if (last !== undefined
      && !equalBytes(keysOfRotation(last).nextKey, keysOfRotation(record).previousKey)) {
    throw new InvariantError(
      'a change of the server\'s key begins with the key that is in force',
    );
  }
  yield* run(sql.insertInto('key_rotations').values({
    rotation: BigInt(before.length + 1), record: Buffer.from(record), at_ms: BigInt(nowMs),
  }));
}
