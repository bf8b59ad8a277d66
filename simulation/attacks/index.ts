import { InvalidParameterError } from '../../src/base/errors.js';
import { didYouMean } from '../../src/base/suggest.js';
import type { RowAttack } from './contract.js';
import { ballotStuffing, evictKeys, forgeKeys, heavyHitterPoisoning } from './keys.js';
import { abuses, type Abuse } from './malformed.js';
import {
  coordinate, direction, far, inliers, krumEvader, noise, notFinite, shift, slowDrift, sybil,
} from './rows.js';

export type { AttackContext, RowAttack } from './contract.js';
export { abuseFrames, abuses } from './malformed.js';
export type { Abuse, AbuseContext, AbuseFrames } from './malformed.js';

/** The attacks on columns of numbers. */
export const numberAttacks: readonly RowAttack[] = [
  shift, direction, coordinate, far, inliers, krumEvader, slowDrift, sybil, noise, notFinite,
];

/** The attacks on rows: on numbers, and on the names by which answers are split. */
export const rowAttacks: readonly RowAttack[] = [
  ...numberAttacks, ballotStuffing, heavyHitterPoisoning, forgeKeys, evictKeys,
];

/**
 * An attack on the protocol: the abuses that each contributor does in turn, whatever its rows are.
 */
export interface ProtocolAttack {
  readonly name: string;
  readonly title: string;
  readonly abuses: readonly Abuse[];
}

/** The attacks on the protocol. */
export const protocolAttacks: readonly ProtocolAttack[] = [
  {
    name: 'malformed',
    title: 'broken frames, bad signatures, wrong sizes, replays; tests that the server refuses and '
      + 'goes on',
    abuses,
  },
  {
    name: 'replay',
    title: 'sends signed batches again, as they were and changed; tests that a row counts once',
    abuses: ['replay', 'mutated-replay'],
  },
];

/** Names of all attacks, for help and errors. */
export const attackNames: readonly string[] = [...rowAttacks, ...protocolAttacks].map(({ name }) =>
  name);

/** True if an attack is on the protocol, not on the numbers. */
export function isProtocolAttack(attack: RowAttack | ProtocolAttack): attack is ProtocolAttack {
  return 'abuses' in attack;
}

/** @throws InvalidParameterError naming the most similar attack, or all of them. */
export function findAttack(name: string): RowAttack | ProtocolAttack {
  const found = [...rowAttacks, ...protocolAttacks].find((attack) => attack.name === name);
  if (found !== undefined) return found;
  const near = typeof name === 'string' ? didYouMean(name, attackNames) : '';
  const remedy = near === '' ? `: choose one of ${attackNames.join(', ')}` : near;
  throw new InvalidParameterError(`there is no attack ${JSON.stringify(name)}${remedy}`);
}
