import { toHex } from '../../../../src/base/bytes.js';
import { signing } from '../../../../src/signing/node.js';
import { issueEnrolment, type Signer } from '../../../../src/signing/index.js';
import {
  ofShortFacts, type ShortFacts, type StudyDocument,
} from '../../../../src/wire/study-document.js';
import { parseStudyText } from '../../../../server/study-file/index.js';
import { digestOfKeys } from '../../../../server/study-file/enrolled-keys.js';
import { defineStudy, type StudyDefinition } from '../../../../server/studies/definition.js';

export const columns = 3;
export const rowsMax = 24;
export const everyMs = 1_000;
/** Of the text column of the study with typed columns. */
export const wordBytes = 8;
/** Names of its category. */
export const kinds = 3;

const signerOf = (fill: number, index: number): Signer => {
  const seed = new Uint8Array(32).fill(fill);
  new DataView(seed.buffer).setUint32(0, index);
  return signing.createSigner(seed);
};

/** The same keys for every run: frames that are kept stay valid. */
export const serverSigner = signerOf(7, 0);
/** The server's key before: what was signed for it and not answered still counts. */
export const earlierSigner = signerOf(8, 0);
export const contributors: readonly Signer[] =
  Array.from({ length: 48 }, (_, i) => signerOf(9, i + 1));

const issuer = signerOf(11, 0);
/** Of the study with a rate. */
export const ratedKeys = 1;
export const ratedPerMs = 30 * everyMs;

const tokenOf = (
  key: Signer, study: string | null, from = issuer, expiresAtMs = 8e15,
): Uint8Array =>
  issueEnrolment(from, key.publicKey, { study, expiresAtMs }, signing);

/**
 * What each contributor shows where keys are enrolled: every third one a token that is good, the
 * others all else.
 */
const tokens = new Map(contributors.map((signer, i) => {
  const good = tokenOf(signer, i % 2 === 0 ? 'enrolled' : null);
  const bad = [
    undefined, new Uint8Array(0), good.slice(0, 71),
    tokenOf(contributors[(i + 1) % contributors.length]!, null), tokenOf(signer, 'open'),
    tokenOf(signer, null, signer), tokenOf(signer, null, issuer, 1),
    good.map((byte, place) => (place === 64 + (i % 8) ? byte ^ 1 : byte)),
  ];
  return [
    toHex(signer.publicKey),
    { isGood: i % 3 === 0, token: i % 3 === 0 ? good : bad[i % bad.length] },
  ] as const;
}));

/** @param publicKey of one of the contributors. */
export const enrolmentOf = (publicKey: Uint8Array) =>
  tokens.get(toHex(publicKey)) ?? { isGood: false, token: undefined };

function documentOf(name: string, change: Partial<ShortFacts>): StudyDocument {
  return ofShortFacts({
    version: 1, study: name, columns: Array.from({ length: columns }, (_, i) => `c${i}`),
    cohort: 100_000, participation: 'secret', epoch: { everyMs },
    contribution: { reduce: 'mean', rowsMax }, estimator: 'mean',
    parameters: {
      spread: new Array<number>(columns).fill(1), corruption: 0.05, 'centre-part': 0.2,
    },
    privacy: { epsilon: 1, delta: 1e-6 },
    budget: { epsilon: 60, delta: 1e-3, rule: 'zcdp', scope: 'study' },
    admission: { kind: 'open' }, late: 'next', retention: { kind: 'release' }, ...change,
  });
}

/** Columns of every kind of cells, and keys that nobody listed. */
const typedText = `study: typed
columns:
  amount: { type: number, low: 0, high: 10, optional: true }
  kind: { type: category, of: [one, two, three] }
  word: { type: text, bytes: ${wordBytes} }
cohort: 2000
peopleMax: 8000
participation: secret
epoch: { every: ${everyMs}ms }
contribution: { rowsMax: ${rowsMax} }
questions:
  words: { estimator: count, by: { column: word, groupsMax: 2, discover: true } }
  kinds: { estimator: count, by: { column: kind, groupsMax: 1 }, where: { word: hello } }
  total: { estimator: sum, columns: [amount] }
privacy: { epsilon: 2, delta: 1e-6 }
budget: { epsilon: 60, delta: 1e-3, scope: study }
late: next
retention: release
`;

let defined: readonly StudyDefinition[] | undefined;

/** One study of every kind that answers differently; the last one is ended as soon as it runs. */
export function fuzzStudies(): readonly StudyDefinition[] {
  return (defined ??= makeStudies());
}

function makeStudies(): readonly StudyDefinition[] {
  const keys =
    new Set(contributors.filter((_, i) => i % 3 !== 0).map(({ publicKey }) => toHex(publicKey)));
  const admission = { kind: 'contributorKeys', digest: digestOfKeys(keys) } as const;
  return [
    defineStudy(documentOf('open', {})),
    defineStudy(documentOf('listed', { late: 'drop', admission }), keys),
    defineStudy(documentOf('own', {
      budget: { epsilon: 3, delta: 1e-5, rule: 'zcdp', scope: 'contributor' },
    })),
    defineStudy(
      documentOf('brief', { budget: { epsilon: 2, delta: 1e-5, rule: 'zcdp', scope: 'study' } }),
    ),
    defineStudy(documentOf('enrolled', {
      admission: { kind: 'enrolment', issuer: toHex(issuer.publicKey) },
    })),
    defineStudy(documentOf('rated', {
      participation: 'public',
        admission: { kind: 'rate', contributorKeys: ratedKeys, perMs: ratedPerMs },
    })),
    defineStudy(parseStudyText(typedText, { name: 'typed.yaml' }).document),
    defineStudy(documentOf('ended', {})),
  ];
}
