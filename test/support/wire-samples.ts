import { fromHex, toHex } from '../../src/base/bytes.js';
import type { Outcome } from '../../src/base/outcome.js';
import { channelKeys, sealFrame } from '../../src/signing/channel-keys-node.js';
import { signing } from '../../src/signing/node.js';
import {
  issueEnrolment, openMessage, signBatch, signHello, signReady, signRotation, signShare,
  signStatement, signWithdrawal,
} from '../../src/signing/index.js';
import type {
  BatchBody, ClientFrame, HeadBody, ReleaseBody, ServerFrame,
} from '../../src/wire/index.js';
import {
  encodeAck, encodeBatchBody, encodeCells, encodeHeadBody, encodeReleaseBody, encodeRows,
  encodeStudyDocument, encodeUnsignedReady, ofShortAnswer, studyId,
} from '../../src/wire/index.js';
import {
  contributor, counting, document, facts, factsId, questionsDocument, releaseBody, server,
  shortRelease, textDocument, typedDocument, unit, type ShortRelease,
} from '../../cli/conform/samples.js';
import { said } from './described.js';

export {
  contributor, contributorSeed, document, facts, factsId, questionsDocument, releaseBody, server,
  serverSeed, shortFacts, shortRelease, textDocument, typedDocument, type ShortRelease,
} from '../../cli/conform/samples.js';

/**
 * One exchange with fixed keys and nonces, from which the vectors and docs/reference/protocol.md
 * are made.
 */
export const issuerSeed = counting(0x80, 32);
export const issuer = signing.createSigner(issuerSeed);
/** The key that the server changes to. */
export const nextServer = signing.createSigner(counting(0xa0, 32));
export const rotation = signRotation(server, nextServer, signing);
export const nonces = { serverNonce: counting(0x40, 32), clientNonce: counting(0x60, 32) };

export const context = { serverKey: server.publicKey, studyId: factsId };

/** Until 2030, in the study alone. */
export const enrolmentToken = issueEnrolment(
  issuer, contributor.publicKey, { study: document.study, expiresAtMs: Date.UTC(2030, 0, 1) },
  signing);

export const batchBody: BatchBody = {
  studyId: factsId,
  sequence: 1n,
  epoch: 7n,
  last: true,
  rows: 2,
  columns: 2,
  dataType: 'float32',
  data: encodeRows(Float64Array.of(12.5, 733, -4, 2475), 'float32'),
};
export const batchBytes = encodeBatchBody(batchBody);
export const batchDigest = signing.sha512(batchBytes);

export const typedFacts = encodeStudyDocument(typedDocument);
export const typedFactsId = fromHex(await studyId(typedFacts, signing));
export const typedBody: BatchBody = {
  studyId: typedFactsId,
  sequence: 1n,
  epoch: 7n,
  last: true,
  rows: 2,
  columns: 4,
  dataType: 'float32',
  data: new Uint8Array(0),
  cells: encodeCells(
    Float64Array.of(12.5, 3, 1, 0, -4, 0, 0, 2), typedDocument.types!, 'float32',
  ),
};
export const typedBytes = encodeBatchBody(typedBody);

export const releaseBytes = encodeReleaseBody(releaseBody);
export const releaseDigest = signing.sha512(releaseBytes);

/** The sample release with another answer. */
export const releaseOf = (outcome: Outcome, change: Partial<ShortRelease> = {}): ReleaseBody =>
  ofShortAnswer({ ...shortRelease, ...change, outcome });

export const partsBody = releaseOf(said({
  kind: 'value',
  estimate: [8.25, 731.5, 4, 0.5, 0.5, 9],
  shape: [6],
  parts: [{ name: 'mean', shape: [2] }, { name: 'covariance', shape: [2, 2] }],
  uncertainty: { kind: 'none' },
}, { estimator: 'gaussian', columns: document.columns }), {
  estimator: 'gaussian', parameters: '{}',
});
export const partsBytes = encodeReleaseBody(partsBody);

/** A value with everything that a value can say. */
export const doubtfulBody = releaseOf(said({
  kind: 'value',
  estimate: [8.25, 0],
  shape: [2],
  uncertainty: { kind: 'gaussian', standardDeviation: [0.5, 0] },
  interval95: { low: [7.25, -Infinity], high: [9.25, Infinity] },
  intervalIfFalse95: { low: [2.75, -Infinity], high: [13.75, Infinity] },
  radiusIfFalse95: 0.25,
  spread: [24, 1],
  findings: [
    { reason: 'skewed', columns: [0], amounts: [] },
    { reason: 'cluster-apart', columns: [], amounts: [0.03125, 8.5, 0] },
    { reason: 'mostly-one-value', columns: [1], amounts: [0, 370] },
  ],
}, { estimator: 'prime', columns: document.columns }));
export const doubtfulBytes = encodeReleaseBody(doubtfulBody);

export const textFacts = encodeStudyDocument(textDocument);
export const textFactsId = fromHex(await studyId(textFacts, signing));
export const textBody: BatchBody = {
  ...typedBody,
  studyId: textFactsId,
  rows: 3,
  columns: 5,
  cells: encodeCells(
    Float64Array.of(0, 2, 3, 1, 1, 1, 2, NaN, 0, NaN, 0, NaN, NaN, NaN, NaN),
    textDocument.types!, 'float32', ['maps', 'mail', 'Zürich'],
  ),
};
export const textBytes = encodeBatchBody(textBody);

/** Answers to `questionsDocument`. One key has no answer, and one question has none. */
export const answersBody: ReleaseBody = {
  serverKey: server.publicKey, studyId: factsId, index: 0n, epoch: 7n, study: 'rides',
  participation: 'secret',
  answers: [
    {
      question: 'delays', estimator: 'prime', parameters: '{"corruption":0.1,"spread":[40]}',
      outcome: said({
        kind: 'value', estimate: [8.25], shape: [1], spread: [40],
        uncertainty: { kind: 'gaussian', standardDeviation: [0.5] },
        interval95: { low: [7.25], high: [9.25] },
      }, { estimator: 'prime', columns: ['minutes'] }),
      rhoAmount: unit / 160n, deltaAmount: 4_000_000_000_000n,
    },
    {
      question: 'regions', estimator: 'count', parameters: '{}',
      outcome: said({
        kind: 'value', estimate: [251, 198, 0, 149, -9, 12], shape: [6],
        groups: [
          ['false', 'north'], ['false', 'south'], ['false', 'other'],
          ['true', 'north'], ['true', 'south'], ['true', 'other'],
        ],
        answered: [true, true, false, true, true, true],
        uncertainty: { kind: 'none' },
        interval95: {
          low: [238, 185, -Infinity, 136, -22, -1], high: [264, 211, Infinity, 162, 4, 25],
        },
      }, { estimator: 'count', columns: [] }),
      rhoAmount: unit / 200n, deltaAmount: 3_000_000_000_000n,
    },
    {
      question: 'quiet', estimator: 'prime', parameters: '{"corruption":0.1,"spread":[1]}',
      outcome: { kind: 'refused', reason: 'subsamples-disagree', text: 'groups of rows disagree' },
      rhoAmount: unit / 200n, deltaAmount: 2_223_372_036_855n,
    },
  ],
  cost: {
    epsilon: 1, delta: 1e-6, rhoAmount: unit / 160n + 2n * (unit / 200n),
    deltaAmount: 9_223_372_036_855n,
  },
  ledger: { ...releaseBody.ledger, scope: 'study' },
  previousDigest: new Uint8Array(64), mechanisms: '[]', closedAtMs: 1_767_225_600_000n,
  columns: questionsDocument.columns, cohort: 3000n,
};
export const answersBytes = encodeReleaseBody(answersBody);

export const headBody: HeadBody = {
  serverKey: server.publicKey,
  studyId: factsId,
  count: 1n,
  digest: releaseDigest,
  state: 'ended',
};
export const headBytes = encodeHeadBody(headBody);
export const headDigest = signing.sha512(headBytes);

export const signatures = {
  hello: signHello(contributor, context, nonces),
  ready: signReady(server, factsId, contributor.publicKey, nonces),
  batch: signBatch(contributor, context, batchDigest),
  study: signStatement('study', server, factsId, signing.sha512(facts)),
  release: signStatement('release', server, factsId, releaseDigest),
  head: signStatement('head', server, factsId, headDigest),
  enrol: enrolmentToken.slice(0, 64),
  rotation: rotation.subarray(64, 128),
  withdraw: signWithdrawal(contributor, context, 7n),
};

export const clientFrames: Readonly<Record<string, ClientFrame>> = {
  hello: {
    kind: 'hello',
    studyId: factsId,
    publicKey: contributor.publicKey,
    clientNonce: nonces.clientNonce,
    signature: signatures.hello,
  },
  enrolledHello: {
    kind: 'hello',
    studyId: factsId,
    publicKey: contributor.publicKey,
    clientNonce: nonces.clientNonce,
    signature: signatures.hello,
    enrolment: enrolmentToken,
  },
  batch: { kind: 'batch', channel: 1, body: batchBytes, signature: signatures.batch },
  subscribe: { kind: 'subscribe', studyId: factsId, fromRelease: 3n },
  subscribeFromFirst: { kind: 'subscribe', studyId: factsId, fromRelease: 0n },
  unsubscribe: { kind: 'unsubscribe', studyId: factsId },
  withdraw: { kind: 'withdraw', channel: 1, epoch: 7n, signature: signatures.withdraw },
};

export const serverFrames: Readonly<Record<string, ServerFrame>> = {
  welcome: {
    kind: 'welcome',
    serverKey: server.publicKey,
    serverNonce: nonces.serverNonce,
    limits: {
      frameBytes: 4_194_304,
      rowsPerBatch: 65_536,
      creditBatches: 64,
      channelsPerSocket: 4_096,
      sequenceWindow: 64,
    },
    studies: [{ facts, signature: signatures.study, state: 'open', epoch: 7n }],
    rotations: [],
  },
  welcomeAfterRotation: {
    kind: 'welcome',
    serverKey: nextServer.publicKey,
    serverNonce: nonces.serverNonce,
    limits: {
      frameBytes: 4_194_304,
      rowsPerBatch: 65_536,
      creditBatches: 64,
      channelsPerSocket: 4_096,
      sequenceWindow: 64,
    },
    studies: [],
    rotations: [rotation],
  },
  ready: {
    kind: 'ready',
    channel: 1,
    studyId: factsId,
    publicKey: contributor.publicKey,
    signature: signatures.ready,
    epoch: 7n,
    nextSequence: 9n,
    holes: [2n, 5n],
    credit: 64,
    ownSpend: { rho: 0.015625, rhoCap: 1, delta: 5e-7, deltaCap: 5e-6 },
  },
  readyWithoutSpend: {
    kind: 'ready',
    channel: 2,
    studyId: factsId,
    publicKey: contributor.publicKey,
    signature: signatures.ready,
    epoch: 0n,
    nextSequence: 1n,
    holes: [],
    credit: 64,
    ownSpend: null,
  },
  ack: {
    kind: 'ack',
    channel: 1,
    accepted: [3n, 9_007_199_254_740_993n],
    rejections: [
      {
        sequence: 18_446_744_073_709_551_615n, code: 'stale-epoch', retryable: false,
        text: 'epoch 6 is closed',
      },
    ],
    epoch: 8n,
    credit: 63,
  },
  ackOfWithdrawal: {
    kind: 'ack', channel: 1, accepted: [], rejections: [], epoch: 7n, credit: 64, withdrawn: 7n,
  },
  release: { kind: 'release', body: releaseBytes, signature: signatures.release },
  head: { kind: 'head', body: headBytes, signature: signatures.head },
  notice: { kind: 'notice', studyId: factsId, state: 'open', epoch: 8n, closesInMs: 10_000n },
  refusal: {
    kind: 'refusal',
    code: 'key-not-allowed',
    retryable: false,
    text: 'the key is not enrolled',
    channel: 0,
    studyId: factsId,
    publicKey: contributor.publicKey,
  },
  refusalOfSocket: {
    kind: 'refusal',
    code: 'shutting-down',
    retryable: true,
    text: 'come back soon',
    channel: 0,
    studyId: new Uint8Array(0),
    publicKey: new Uint8Array(0),
  },
};

/**
 * Bytes as hex, integers past doubles as decimal text: what a reader in another language can
 * compare.
 */
export function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value);
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, readable(member)]),
  );
}

const basePoint = Uint8Array.of(9, ...new Uint8Array(31));
const secretShare = new Uint8Array(32).fill(11);
const channelShares = {
  serverNonce: nonces.serverNonce,
  share: signing.x25519(new Uint8Array(32).fill(10), basePoint),
  clientShare: signing.x25519(secretShare, basePoint),
};
const unsignedShare = {
  share: channelShares.share, issuedMs: 1_767_225_600_000n, untilMs: 1_767_226_200_000n,
};
const openedMessage = openMessage(contributor.publicKey, context, channelShares, signing);
const keysOfChannel =
  channelKeys(signing.x25519(secretShare, channelShares.share), openedMessage);

/** Frames that `keelson.v2` alone has. */
export const encryptedClientFrames: Readonly<Record<string, ClientFrame>> = {
  open: {
    kind: 'open',
    studyId: factsId,
    publicKey: contributor.publicKey,
    clientShare: channelShares.clientShare,
    signature: contributor.sign(openedMessage),
  },
  encryptedBatch: {
    kind: 'encrypted-batch', channel: 1,
    encrypted: sealFrame(keysOfChannel.up, 0, 'batch', batchDigest, batchBytes),
  },
};

export const encryptedServerFrames: Readonly<Record<string, ServerFrame>> = {
  welcomeWithShare: {
    kind: 'welcome',
    serverKey: server.publicKey,
    serverNonce: nonces.serverNonce,
    limits: {
      frameBytes: 4_194_304,
      rowsPerBatch: 65_536,
      creditBatches: 64,
      channelsPerSocket: 4_096,
      sequenceWindow: 64,
    },
    studies: [],
    rotations: [],
    share: { ...unsignedShare, signature: signShare(server, unsignedShare, signing) },
  },
  opened: {
    kind: 'opened',
    channel: 1,
    studyId: factsId,
    publicKey: contributor.publicKey,
    encrypted: sealFrame(keysOfChannel.down, 0, 'opened', encodeUnsignedReady({
      kind: 'ready', channel: 1, studyId: factsId, publicKey: contributor.publicKey, epoch: 7n,
      nextSequence: 1n, holes: [], credit: 64, ownSpend: null,
    })),
  },
  encryptedAck: {
    kind: 'encrypted-ack',
    channel: 1,
    encrypted: sealFrame(keysOfChannel.down, 1, 'ack', encodeAck({
      kind: 'ack', channel: 1, accepted: [1n], rejections: [], epoch: 7n, credit: 64,
    })),
  },
};
