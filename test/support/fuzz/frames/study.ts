import { toHex } from '../../../../src/base/bytes.js';
import { signing } from '../../../../src/signing/node.js';
import type { Signer } from '../../../../src/signing/index.js';
import type { StudyDocument } from '../../../../src/wire/study-document.js';
import { digestOfKeys } from '../../../../server/study-file/enrolled-keys.js';
import { defineStudy, type StudyDefinition } from '../../../../server/studies/definition.js';

export const columns = 3;
export const rowsMax = 24;
export const everyMs = 1_000;

const signerOf = (fill: number, index: number): Signer => {
  const seed = new Uint8Array(32).fill(fill);
  new DataView(seed.buffer).setUint32(0, index);
  return signing.createSigner(seed);
};

/** The same keys for every run: frames that are kept stay valid. */
export const serverSigner = signerOf(7, 0);
export const contributors: readonly Signer[] = Array.from({ length: 48 }, (_, i) => signerOf(9, i + 1));

function documentOf(name: string, change: Partial<StudyDocument>): StudyDocument {
  return {
    version: 1, study: name, columns: Array.from({ length: columns }, (_, i) => `c${i}`), cohort: 100_000,
    participation: 'secret', epoch: { everyMs }, contribution: { reduce: 'mean', rowsMax }, estimator: 'mean',
    parameters: { scale: new Array<number>(columns).fill(1), corruption: 0.05, 'centre-share': 0.2 },
    privacy: { epsilon: 1, delta: 1e-6 },
    budget: { epsilon: 60, delta: 1e-3, rule: 'zcdp', scope: 'study' },
    admission: { kind: 'open' }, late: 'next', retention: { kind: 'release' }, ...change,
  };
}

let defined: readonly StudyDefinition[] | undefined;

/** One study of every kind that answers differently; the last one is ended as soon as it runs. */
export function fuzzStudies(): readonly StudyDefinition[] {
  return (defined ??= makeStudies());
}

function makeStudies(): readonly StudyDefinition[] {
  const keys = new Set(contributors.filter((_, i) => i % 3 !== 0).map(({ publicKey }) => toHex(publicKey)));
  const admission = { kind: 'keys', digest: digestOfKeys(keys) } as const;
  return [
    defineStudy(documentOf('open', {})),
    defineStudy(documentOf('listed', { late: 'drop', admission }), keys),
    defineStudy(documentOf('own', { budget: { epsilon: 3, delta: 1e-5, rule: 'zcdp', scope: 'contributor' } })),
    defineStudy(documentOf('brief', { budget: { epsilon: 2, delta: 1e-5, rule: 'zcdp', scope: 'study' } })),
    defineStudy(documentOf('ended', {})),
  ];
}
