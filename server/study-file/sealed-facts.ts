import { fromHex } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { sealedLimits } from '../../src/base/sealed-limits.js';
import { checkPublicKey } from '../../src/signing/index.js';
import { areServers, isSafeAddress, notSealable } from '../../src/wire/sealed-codec.js';
import type { SealedFacts, StudyDocument } from '../../src/wire/study-document.js';
import type { Refuse } from './columns.js';
import type { StudyFile } from './schema.js';

/** The facts that a study file states under `sealed`. */
export function sealedFactsOf(
  { against, bits, range, servers, patience }: NonNullable<StudyFile['sealed']>,
): SealedFacts {
  return {
    against, bits, ...(range !== undefined && { range }),
    servers: servers as unknown as SealedFacts['servers'], patienceMs: patience,
  };
}

/** The reason why sealed rows cannot have a fact, and the remedy. */
const faults: Readonly<Record<NonNullable<ReturnType<typeof notSealable>>, readonly [
  rule: string, remedy: string,
]>> = {
  columns: [`a sealed study has at most ${sealedLimits.columns} columns`, 'use fewer'],
  'sealed.range': ['has another number of ranges than columns',
    'give one for each, or leave it out and give low and high of the columns that need them'],
  epoch: ['the three servers close epochs by time', 'write epoch: { every: 1h }'],
  budget: ['each of the three servers keeps the budget of this study, with rule zcdp',
    'leave scope, rule and population out'],
  late: ['a sealed row is sealed for one epoch', 'write late: drop, or leave it out'],
  retention: ['shares are erased with the release', 'leave it out'],
  quarantine: ['no server sees the rows that it would compare', 'leave it out'],
  running: ['sealed answers are about one epoch', 'leave it out'],
};

/** @throws the error of `refuse`, if a study cannot be sealed as its file states. */
export function checkSealed(document: StudyDocument, refuse: Refuse): void {
  const { sealed } = document;
  if (sealed === undefined) return;
  const fault = notSealable(document);
  if (fault !== null) throw refuse(fault, ...faults[fault]);
  const unsafe = sealed.servers.find(({ url }) => !isSafeAddress(url));
  if (unsafe !== undefined) {
    throw refuse('sealed.servers', `${unsafe.url} could be read on its way, and whoever reads what `
      + 'the servers send each other reads rows', 'write wss://, or ws:// on this machine');
  }
  if (!areServers(sealed.servers)) {
    throw refuse('sealed.servers', 'two of the servers have one name or one key',
      'list three servers of three operators');
  }
  for (const { name, key } of sealed.servers) {
    try {
      checkPublicKey(fromHex(key));
    } catch (error) {
      if (!(error instanceof KeelsonError)) throw error;
      throw refuse('sealed.servers', `the key of ${name} cannot be used: ${error.message}`,
        'print the key with "keelson keys server --data DIR"');
    }
  }
}
