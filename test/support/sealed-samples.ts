import { statementBytes, signSealedStatement } from '../../src/sealed/shares/statements.js';
import { concatBytes } from '../../src/base/bytes.js';
import { signing } from '../../src/signing/node.js';
import type { ServerFrame } from '../../src/wire/index.js';
import type { PeerFrame } from '../../src/wire/peer-messages.js';
import { contributor, factsId, nonces, server, signatures } from './wire-samples.js';

const filled = (byte: number, length: number): Uint8Array => new Uint8Array(length).fill(byte);

/** One statement of each kind, as server 1 signs it in `server`'s name. */
export const statements = {
  'box-key': { about: 'box-key', epoch: 7n, boxKey: filled(1, 32) },
  hello: {
    about: 'hello', from: 1, to: 0, challenge: nonces.serverNonce, nonce: nonces.clientNonce,
  },
  ready: {
    about: 'ready', from: 0, to: 1, challenge: nonces.serverNonce, nonce: nonces.clientNonce,
  },
  start: { about: 'start', epoch: 7n, attempt: 2, digest: filled(2, 64), key: filled(3, 32) },
} as const;

export const signed = Object.fromEntries(Object.entries(statements).map(([name, statement]) => [
  name, {
    bytes: statementBytes(statement),
    signature: signSealedStatement(signing, server, factsId, statement),
  },
])) as Record<keyof typeof statements, { bytes: Uint8Array; signature: Uint8Array }>;

export const boxKeys: readonly Uint8Array[] = [0, 1, 2].map(() =>
  concatBytes(statements['box-key'].boxKey, signed['box-key'].signature));

export const sealedServerFrames: Readonly<Record<string, ServerFrame>> = {
  ready: {
    kind: 'ready', channel: 1, studyId: factsId, publicKey: contributor.publicKey,
    signature: signatures.ready, epoch: 7n, nextSequence: 1n, holes: [], credit: 64,
    ownSpend: null, boxKeys,
  },
  notice: {
    kind: 'notice', studyId: factsId, state: 'open', epoch: 7n, closesInMs: 10_000n, boxKeys,
  },
  release: { kind: 'release', body: filled(9, 5), signature: filled(8, 192) },
};

export const peerFrames: { readonly [K in PeerFrame['kind']]: PeerFrame } = {
  hello: {
    kind: 'hello', studyId: factsId, from: 1, challenge: nonces.serverNonce,
    nonce: nonces.clientNonce, signature: signed.hello.signature,
  },
  ready: { kind: 'ready', signature: signed.ready.signature },
  standing: {
    kind: 'standing', epoch: 7n, state: 'charged', releases: 6n, study: 'open', heldEpoch: 5n,
  },
  openEpoch: {
    kind: 'openEpoch', epoch: 7n, opensAtMs: 1_767_225_600_000n, closesAtMs: 1_767_225_660_000n,
  },
  epochKey: {
    kind: 'epochKey', epoch: 7n, boxKey: statements['box-key'].boxKey,
    signature: signed['box-key'].signature,
  },
  gather: { kind: 'gather', epoch: 7n },
  boxes: {
    kind: 'boxes',
    entries: [{
      contributor: contributor.publicKey, body: filled(4, 11), signature: signatures.batch,
    }],
  },
  manifest: { kind: 'manifest', count: 1, digest: filled(5, 64) },
  unusable: { kind: 'unusable', entries: Uint8Array.of(0b1001, 0x80) },
  start: {
    kind: 'start', attempt: 2, digest: filled(2, 64), key: filled(3, 32),
    signature: signed.start.signature, rules: 2,
  },
  step: { kind: 'step', payload: filled(6, 44), more: true },
  sign: { kind: 'sign', signature: signatures.release },
  released: { kind: 'released', body: filled(7, 9), signature: filled(8, 192) },
  stop: { kind: 'stop', code: 'interrupted' },
};
