import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recordLines } from '../../scripts/record-lines.js';
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.js';
import { WireError } from '../../src/base/errors.js';
import { signing as browser } from '../../src/signing/browser.js';
import {
  keyFingerprint, signBatch, signedMessage, type SignatureLabel,
} from '../../src/signing/index.js';
import { signing as node } from '../../src/signing/node.js';
import * as wire from '../../src/wire/index.js';
import * as samples from '../support/wire-samples.js';

// The files beside this one are the protocol's golden bytes. They are compared, never rewritten, by
// a plain run; after a deliberate change of the protocol, `npx vitest run test/vectors -u` writes
// them.
const read = (name: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8'));

const bodies = {
  batch: { message: samples.batchBody, bytes: samples.batchBytes, decode: wire.decodeBatchBody },
  'typed-batch': {
    message: samples.typedBody, bytes: samples.typedBytes, decode: wire.decodeBatchBody,
  },
  'text-batch': {
    message: samples.textBody, bytes: samples.textBytes, decode: wire.decodeBatchBody,
  },
  release: {
    message: samples.releaseBody, bytes: samples.releaseBytes, decode: wire.decodeReleaseBody,
  },
  'release-of-parts': {
    message: samples.partsBody, bytes: samples.partsBytes, decode: wire.decodeReleaseBody,
  },
  'release-with-findings': {
    message: samples.doubtfulBody, bytes: samples.doubtfulBytes, decode: wire.decodeReleaseBody,
  },
  'release-of-answers': {
    message: samples.answersBody, bytes: samples.answersBytes, decode: wire.decodeReleaseBody,
  },
  head: { message: samples.headBody, bytes: samples.headBytes, decode: wire.decodeHeadBody },
};

/** Bodies of POST /v1/once. */
const contribution = {
  studyId: samples.factsId, publicKey: samples.contributor.publicKey, body: samples.batchBytes,
  signature: signBatch(samples.contributor, samples.context, samples.batchDigest),
};
const once: Readonly<Record<string, wire.Once>> = {
  once: contribution, 'once-enrolled': { ...contribution, enrolment: samples.enrolmentToken },
};

const nonces = concatBytes(samples.nonces.serverNonce, samples.nonces.clientNonce);
/** sealed.json has the statements of the servers of sealed studies, channel-keys.json the rest. */
type SentLabel = Exclude<SignatureLabel, 'sealed' | 'share' | 'open'>;
const payloads: Readonly<Record<SentLabel, Uint8Array>> = {
  hello: nonces,
  ready: nonces,
  batch: samples.batchDigest,
  study: node.sha512(samples.facts),
  release: samples.releaseDigest,
  head: samples.headDigest,
  enrol: node.sha512(samples.enrolmentToken.subarray(64)),
  rotation: node.sha512(samples.nextServer.publicKey),
  withdraw: Uint8Array.from({ length: 64 }, (_, i) => (i === 7 ? 7 : 0)),
};
const labels = Object.keys(payloads) as SentLabel[];
const byContributor = (label: SentLabel): boolean =>
  ['hello', 'batch', 'withdraw'].includes(label);
const contributorKeyOf = (label: SentLabel): Uint8Array | null =>
  byContributor(label) || label === 'ready' || label === 'enrol'
    ? samples.contributor.publicKey : null;
const signerOf = (label: SentLabel): string =>
  byContributor(label) ? 'contributor' : label === 'enrol' ? 'issuer' : 'server';
const contextOf = (label: SentLabel): typeof samples.context =>
  label === 'enrol' || label === 'rotation'
    ? {
      serverKey: (label === 'enrol' ? samples.issuer : samples.server).publicKey,
      studyId: new Uint8Array(32),
    }
    : samples.context;

/** The fields that the wire has: a release of one answer has it in fields of its own. */
function asSent(message: object): object {
  if (!('wireForm' in message)) return message;
  const fields = Object.entries(message as wire.ReleaseBody)
    .filter(([name]) => name !== 'wireForm' && name !== 'answers');
  const { estimator, parameters, outcome } = (message as wire.ReleaseBody).answers[0]!;
  const at = fields.findIndex(([name]) => name === 'participation');
  return Object.fromEntries([
    ...fields.slice(0, at), ...Object.entries({ estimator, parameters }), fields[at]!,
    ['outcome', outcome], ...fields.slice(at + 1),
  ]);
}

describe('vectors', () => {
  it('fixes the bytes of every frame and body', async () => {
    const frames = (
      record: Readonly<Record<string, unknown>>, encode: (frame: never) => Uint8Array,
    ): unknown =>
      Object.fromEntries(
        Object.entries(record).map(([name, frame]) => [
          name,
          { message: samples.readable(frame), bytes: toHex(encode(frame as never)) },
        ]),
      );
    await expect(
      recordLines({
        facts: new TextDecoder().decode(samples.facts),
        studyId: toHex(samples.factsId),
        typedFacts: new TextDecoder().decode(samples.typedFacts),
        typedStudyId: toHex(samples.typedFactsId),
        textFacts: new TextDecoder().decode(samples.textFacts),
        textStudyId: toHex(samples.textFactsId),
        bodies: Object.fromEntries(
          Object.entries(bodies).map(([name, body]) => [
            name,
            { message: samples.readable(asSent(body.message)), bytes: toHex(body.bytes) },
          ]),
        ),
        clientFrames: frames(samples.clientFrames, wire.encodeClientFrame),
        serverFrames: frames(samples.serverFrames, wire.encodeServerFrame),
        once: frames(once, wire.encodeOnce),
      }),
    ).toMatchFileSnapshot('frames.json');
  });

  it('reads every vector back to the message', () => {
    const file = read('frames.json') as Record<
      'bodies' | 'clientFrames' | 'once' | 'serverFrames',
      Record<string, { bytes: string }>
    > & { facts: string; typedFacts: string; textFacts: string };
    for (const [name, frame] of Object.entries(samples.clientFrames)) {
      expect(wire.decodeClientFrame(fromHex(file.clientFrames[name]!.bytes)), name).toEqual(frame);
    }
    for (const [name, frame] of Object.entries(samples.serverFrames)) {
      expect(wire.decodeServerFrame(fromHex(file.serverFrames[name]!.bytes)), name).toEqual(frame);
    }
    for (const [name, contribution] of Object.entries(once)) {
      const bytes = fromHex(file.once[name]!.bytes);
      expect(wire.viewOnce(bytes), name).toEqual(contribution);
      // Cut short anywhere, it is none.
      for (let end = 0; end < bytes.length; end++) {
        expect(() => wire.viewOnce(bytes.subarray(0, end)), `${name} ${end}`).toThrow(WireError);
      }
    }
    for (const [name, body] of Object.entries(bodies)) {
      expect(body.decode(fromHex(file.bodies[name]!.bytes)), name).toEqual(body.message);
    }
    expect(wire.decodeStudyDocument(new TextEncoder().encode(file.facts)))
      .toEqual(samples.document);
    expect(wire.decodeStudyDocument(new TextEncoder().encode(file.typedFacts)))
      .toEqual(samples.typedDocument);
    expect(wire.decodeStudyDocument(new TextEncoder().encode(file.textFacts)))
      .toEqual(samples.textDocument);
  });

  it('fixes what is signed, and the signatures', async () => {
    await expect(
      recordLines({
        serverSeed: toHex(samples.serverSeed),
        serverKey: toHex(samples.server.publicKey),
        serverFingerprint: keyFingerprint(samples.server.publicKey, node),
        contributorSeed: toHex(samples.contributorSeed),
        contributorKey: toHex(samples.contributor.publicKey),
        issuerSeed: toHex(samples.issuerSeed),
        issuerKey: toHex(samples.issuer.publicKey),
        enrolmentToken: toHex(samples.enrolmentToken),
        studyId: toHex(samples.factsId),
        signed: labels.map((label) => ({
          label,
          signer: signerOf(label),
          contributorKey: contributorKeyOf(label) === null
            ? null : toHex(samples.contributor.publicKey),
          payload: toHex(payloads[label]),
          message:
            toHex(signedMessage(label, contextOf(label), contributorKeyOf(label), payloads[label])),
          signature: toHex(samples.signatures[label]),
        })),
      }),
    ).toMatchFileSnapshot('signatures.json');
  });

  it.each([
    ['node', node],
    ['browser', browser],
  ])('signs and verifies the vectors with %s', (_, signing) => {
    const file = read('signatures.json') as {
      serverSeed: string; contributorSeed: string; issuerSeed: string;
      serverKey: string; contributorKey: string; issuerKey: string;
      signed: { signer: 'contributor' | 'server' | 'issuer'; message: string; signature: string }[];
    };
    for (const { signer, message, signature } of file.signed) {
      const own = signing.createSigner(fromHex(file[`${signer}Seed`]));
      expect(toHex(own.publicKey)).toBe(file[`${signer}Key`]);
      expect(toHex(own.sign(fromHex(message)))).toBe(signature);
      const verifier = signing.createVerifier(fromHex(file[`${signer}Key`]));
      expect(verifier.verify(fromHex(message), fromHex(signature))).toBe(true);
    }
  });
});
