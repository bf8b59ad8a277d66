import { sealedLimits as limits } from '../base/sealed-limits.js';
import { readObject, refused, type Members } from './members.js';
import type { SealedFacts, SealedServer, SharedFacts } from './study-document.js';

const keyPattern = /^[0-9a-f]{64}$/;

/** @throws WireError('malformed') unless these are the facts of sealed rows. */
export function readSealed(sealed: Members): SealedFacts {
  const { bits, patienceMs } = limits;
  return {
    against: sealed.choice('against', ['reading']),
    bits: sealed.integer('bits', bits.least, bits.most),
    ...(sealed.has('range') && { range: readRange(sealed) }),
    servers: readServers(sealed),
    patienceMs: sealed.integer('patienceMs', patienceMs.least, patienceMs.most),
    unusableMax: sealed.number('unusableMax', (share) => share >= 0 && share <= 1, 'in [0, 1]'),
  };
}

function readRange(sealed: Members): NonNullable<SealedFacts['range']> {
  return sealed.list('range', limits.columns).map((pair) => {
    const [low, high, ...rest] = Array.isArray(pair) ? pair as readonly unknown[] : [];
    const isRange = typeof low === 'number' && typeof high === 'number' && rest.length === 0
      && Number.isFinite(high - low) && low < high;
    if (!isRange) throw refused('facts.sealed.range', 'a list of pairs that rise');
    return [low, high] as const;
  });
}

function readServers(sealed: Members): SealedFacts['servers'] {
  const servers = sealed.list('servers', 3).map((server, i): SealedServer =>
    readObject(server, `facts.sealed.servers[${i}]`, (members) => ({
      name: members.text('name'),
      url: members.pattern('url', /^[\x21-\x7e]{1,256}$/, 'an address'),
      key: members.pattern('key', keyPattern, '64 digits of lower-case hex'),
    })));
  const fault = serversFault(servers);
  if (fault !== null) throw refused('facts.sealed.servers', fault);
  return servers as unknown as SealedFacts['servers'];
}

/** What is wrong with the servers of a sealed study; null when nothing is. */
export function serversFault(servers: readonly SealedServer[]): string | null {
  if (servers.length !== 3) return 'three servers';
  const differ = (of: (server: SealedServer) => string): boolean =>
    new Set(servers.map(of)).size === servers.length;
  if (!differ(({ name }) => name)) return 'three servers with different names';
  if (!differ(({ key }) => key)) return 'three servers with different keys';
  return servers.every(({ url }) => isSafeAddress(url)) ? null
    : 'reached by wss://, or by ws:// on this machine';
}

/**
 * Whether nobody between two servers can read what they send. Whoever reads the messages of two
 * pairs of servers can add up what each pair keeps from the third.
 */
function isSafeAddress(text: string): boolean {
  try {
    const { protocol, hostname } = new URL(text);
    const isOwn = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
    return protocol === 'wss:' || (protocol === 'ws:' && isOwn);
  } catch {
    return false;
  }
}

/** Why a study cannot have sealed rows, and what to do; null when it can. */
export function sealedFault(
  { columns, types, epoch, budget, late, retention, quarantine, running, sealed }:
  Pick<SharedFacts, 'columns' | 'types' | 'epoch' | 'budget' | 'late' | 'retention'
    | 'quarantine' | 'running' | 'sealed'>,
): readonly [path: string, rule: string, remedy: string] | null {
  if (types !== undefined) {
    return ['columns', 'sealed rows have numbers only', 'give columns as a list of names'];
  }
  if (columns.length > limits.columns) {
    return ['columns', `sealed rows have at most ${limits.columns} columns`, 'use fewer'];
  }
  if (sealed?.range !== undefined && sealed.range.length !== columns.length) {
    return ['sealed.range', 'has another number of ranges than columns', 'give one for each'];
  }
  if (!('everyMs' in epoch)) {
    return ['epoch', 'the three servers close epochs by time', 'write epoch: { every: 1h }'];
  }
  if (budget.scope !== 'study' || budget.rule !== 'zcdp') {
    return ['budget', 'each of the three servers keeps the budget of this study, with rule zcdp',
      'leave scope, rule and population out'];
  }
  if (late !== 'drop') {
    return ['late', 'a sealed row is sealed for one epoch', 'write late: drop, or leave it out'];
  }
  if (retention.kind !== 'release') {
    return ['retention', 'shares are erased with the release', 'leave it out'];
  }
  if (quarantine !== undefined) {
    return ['quarantine', 'no server sees the rows that it would compare', 'leave it out'];
  }
  return running === undefined ? null
    : ['running', 'sealed answers are about one epoch', 'leave it out'];
}
