import { signing } from '#signing';
import { fromHex } from '../../src/base/bytes.js';
import {
  encodeStudyDocument, ofShortAnswer, ofShortFacts, studyId, type ReleaseBody, type ReleaseFacts,
  type ShortAnswer, type ShortFacts, type StudyDocument,
} from '../../src/wire/index.js';

/**
 * Keys, studies and a release with fixed bytes. The vectors in test/vectors and in
 * docs/reference/protocol.md are made of them, and the servers of the conformance kit show them.
 */
export const counting = (first: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (first + i) & 255);

export const serverSeed = counting(0x00, 32);
export const contributorSeed = counting(0x20, 32);
export const server = signing.createSigner(serverSeed);
export const contributor = signing.createSigner(contributorSeed);

export const shortFacts: ShortFacts = {
  version: 1,
  study: 'flight-delays',
  columns: ['delay_minutes', 'distance_miles'],
  cohort: 3000,
  participation: 'secret',
  epoch: { everyMs: 10_000 },
  contribution: { reduce: 'mean', rowsMax: 64 },
  estimator: 'prime',
  parameters: { corruption: 0.1, spread: [40, 600] },
  privacy: { epsilon: 1, delta: 1e-6 },
  budget: { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'contributor' },
  admission: { kind: 'open' },
  late: 'next',
  retention: { kind: 'release' },
};
export const document = ofShortFacts(shortFacts);

export const facts = encodeStudyDocument(document);
export const factsId = fromHex(await studyId(facts, signing));

/** A study with a column of each type, and two rows of it. */
export const typedDocument = ofShortFacts({
  ...shortFacts,
  version: 2,
  study: 'rides',
  columns: ['minutes', 'stops', 'late', 'region'],
  types: [
    { type: 'number', low: 0, high: 240 }, { type: 'integer' }, { type: 'boolean' },
    { type: 'category', of: ['north', 'south'], other: true },
  ],
  contribution: { reduce: 'one', rowsMax: 64 },
  estimator: 'histogram',
  parameters: { column: 3, edges: [1, 2], top: 10 },
});

/** A whole rho in a budget's amounts. */
export const unit = 2n ** 64n;

/** A release of the study without a list of questions, as its bytes state it. */
export type ShortRelease = ReleaseFacts & ShortAnswer;

export const shortRelease: ShortRelease = {
  serverKey: server.publicKey,
  studyId: factsId,
  index: 0n,
  epoch: 7n,
  study: document.study,
  estimator: shortFacts.estimator,
  parameters: '{"corruption":0.1,"spread":[40,600]}',
  participation: 'secret',
  outcome: {
    kind: 'value',
    estimate: [8.25, 731.5],
    shape: [2],
    uncertainty: { kind: 'gaussian', standardDeviation: [0.5, 8] },
    interval95: { low: [7.25, 715.5], high: [9.25, 747.5] },
    numbers: [
      { kind: 'mean', column: 'delay_minutes' }, { kind: 'mean', column: 'distance_miles' },
    ],
  },
  cost: { epsilon: 1, delta: 1e-6, rhoAmount: unit / 64n, deltaAmount: 9_223_372_036_855n },
  ledger: {
    scope: 'contributor',
    rule: 'zcdp',
    rhoSpent: unit / 64n,
    rhoCap: unit,
    deltaSpent: 9_223_372_036_855n,
    deltaCap: 92_233_720_368_548n,
    epsilonSpent: 1,
    epsilonCap: 8,
  },
  previousDigest: new Uint8Array(64),
  mechanisms: '[]',
  closedAtMs: 1_767_225_600_000n,
  columns: document.columns,
  cohort: 3000n,
};
export const releaseBody: ReleaseBody = ofShortAnswer(shortRelease);

/** A study with a list of questions: a mean, a count split by two columns, and a share. */
export const questionsDocument: StudyDocument = {
  version: 2, study: 'rides', columns: typedDocument.columns, types: typedDocument.types!,
  cohort: 3000, participation: 'secret', epoch: { everyMs: 10_000 },
  contribution: { rowsMax: 64 },
  questions: [
    {
      name: 'delays', estimator: 'prime', parameters: { corruption: 0.1, spread: [40] },
      columns: ['minutes'], where: [{ column: 'late', is: true }], reduce: 'mean', part: 40,
    },
    {
      name: 'regions', estimator: 'count', parameters: {}, columns: [], where: [], reduce: 'one',
      part: 30, by: { columns: ['late', 'region'], groupsMax: 2 },
    },
    {
      name: 'quiet', estimator: 'prime', parameters: { corruption: 0.1, spread: [1] },
      columns: ['stops'], where: [], reduce: 'mean', part: 30,
    },
  ],
  privacy: { epsilon: 1, delta: 1e-6 },
  budget: { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'study' },
  admission: { kind: 'open' }, late: 'next', retention: { kind: 'release' },
};

/**
 * A study with texts and optional columns, and three rows of it. The first row has every value, the
 * last one only the required values.
 */
export const textDocument: StudyDocument = {
  ...questionsDocument,
  study: 'trips',
  columns: ['app', 'city', 'stops', 'late', 'region'],
  types: [
    { type: 'text', bytes: 8 }, { type: 'text', bytes: 64, optional: true },
    { type: 'integer', optional: true }, { type: 'boolean', optional: true },
    { type: 'category', of: ['north', 'south'], optional: true },
  ],
  questions: [{
    name: 'apps', estimator: 'count', parameters: {}, columns: [],
    where: [{ column: 'city', is: 'Zürich' }], reduce: 'one', part: 100,
    by: { columns: ['app'], groupsMax: 1, groups: [['mail'], ['maps']] },
  }],
};
