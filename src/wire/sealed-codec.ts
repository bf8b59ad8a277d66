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
    ...(sealed.has('unusableMax') && {
      unusableMax: sealed.number('unusableMax', (share) => share >= 0 && share <= 1, 'in [0, 1]'),
    }),
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
  if (!areServers(servers)) throw refused('facts.sealed.servers', 'three different servers');
  return servers as unknown as SealedFacts['servers'];
}

/** Three servers with different names and keys, whose messages nobody else can read. */
export function areServers(servers: readonly SealedServer[]): boolean {
  const differ = (of: (server: SealedServer) => string): boolean =>
    new Set(servers.map(of)).size === 3;
  return servers.length === 3 && differ(({ name }) => name) && differ(({ key }) => key)
    && servers.every(({ url }) => isSafeAddress(url));
}

/**
 * True if a server's address is one where nobody on the way can read. A person who reads what two
 * pairs of servers send can add up what each pair keeps from the third.
 */
export function isSafeAddress(text: string): boolean {
  try {
    const { protocol, hostname } = new URL(text);
    const isOwn = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
    return protocol === 'wss:' || (protocol === 'ws:' && isOwn);
  } catch {
    return false;
  }
}

/** The first of the facts that sealed rows cannot have; null when there is none. */
export function notSealable(
  { columns, epoch, budget, late, retention, quarantine, running, sealed }: SharedFacts,
): 'columns' | 'sealed.range' | 'epoch' | 'budget' | 'late' | 'retention' | 'quarantine' | 'running'
  | null {
  if (columns.length > limits.columns) return 'columns';
  if (sealed?.range !== undefined && sealed.range.length !== columns.length) return 'sealed.range';
  if (!('everyMs' in epoch)) return 'epoch';
  if (budget.scope !== 'study' || budget.rule !== 'zcdp') return 'budget';
  if (late !== 'drop') return 'late';
  if (retention.kind !== 'release') return 'retention';
  if (quarantine !== undefined) return 'quarantine';
  return running === undefined ? null : 'running';
}
