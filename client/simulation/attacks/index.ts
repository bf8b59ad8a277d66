import { InvalidParameterError } from '../../../src/base/errors.js';
import type { RowAttack } from './contract.js';
import { direction, far, inliers, noise, notFinite, shift } from './rows.js';

export type { AttackContext, RowAttack } from './contract.js';
export { abuseFrames, abuses } from './malformed.js';
export type { Abuse, AbuseContext, AbuseFrames } from './malformed.js';

/** The attacks on the numbers. */
export const rowAttacks: readonly RowAttack[] = [shift, direction, far, inliers, noise, notFinite];

/** The attack on the protocol. */
export const malformedAttack = {
  name: 'malformed',
  title: 'broken frames, bad signatures, wrong sizes, replays; tests that the server refuses and goes on',
} as const;

/** Names of all attacks, for help and errors. */
export const attackNames: readonly string[] = [...rowAttacks.map((attack) => attack.name), malformedAttack.name];

/** @throws InvalidParameterError naming the attacks that there are. */
export function findAttack(name: string): RowAttack | typeof malformedAttack {
  const found = name === malformedAttack.name ? malformedAttack : rowAttacks.find((attack) => attack.name === name);
  if (found !== undefined) return found;
  throw new InvalidParameterError(`there is no attack ${name}: use one of ${attackNames.join(', ')}`);
}
