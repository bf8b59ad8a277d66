import { fromHex } from '../../src/base/bytes.js';
import { canonicalJson } from '../../src/base/canonical-json.js';
import { encodeLogLine } from '../../src/log/index.js';
import type { Signer } from '../../src/signing/index.js';
import { signStatement } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import type { HeadBody, ReleaseBody, StudyDocument } from '../../src/wire/index.js';
import {
  encodeHeadBody, encodeReleaseBody, encodeStudyDocument, ofShortAnswer, studyId,
} from '../../src/wire/index.js';
import {
  answersBody, document, server, shortRelease, type ShortRelease,
} from './wire-samples.js';
import { saidBody } from './described.js';

export interface SampleRelease {
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  readonly digest: Uint8Array;
}

export interface SampleLog {
  readonly studyId: Uint8Array;
  readonly releases: readonly SampleRelease[];
  /** study line, rotation lines, release lines, head line. */
  readonly lines: readonly string[];
}

export interface SampleLogOptions {
  readonly signer?: Signer;
  readonly facts?: StudyDocument;
  /** Who signs a release, by its index. Default: `signer`, who signs the rest. */
  readonly signerOf?: (index: number) => Signer;
  readonly rotations?: readonly Uint8Array[];
  /** Changes the body of one release before it is signed: a server that signs nonsense. */
  readonly change?: (body: ShortRelease) => ShortRelease;
  /** The same, as a reader has it. */
  readonly changeAnswers?: (body: ReleaseBody) => ReleaseBody;
  readonly changeHead?: (body: HeadBody) => HeadBody;
}

/** A well-signed log of `count` releases of epochs 5, 7, 9... */
export async function sampleLog(count: number, options: SampleLogOptions = {}): Promise<SampleLog> {
  const {
    signer = server, facts: study = document, change = same, changeHead = same, rotations = [],
  } = options;
  const { signerOf = () => signer, changeAnswers = same } = options;
  const facts = encodeStudyDocument(study);
  const id = fromHex(await studyId(facts, signing));
  const sign = (label: 'study' | 'release' | 'head', body: Uint8Array, by = signer): Uint8Array =>
    signStatement(label, by, id, signing.sha512(body));
  const releases: SampleRelease[] = [];
  let previousDigest: Uint8Array = new Uint8Array(64);
  for (let index = 0; index < count; index++) {
    const place = {
      serverKey: signerOf(index).publicKey, studyId: id, study: study.study, index: BigInt(index),
      epoch: BigInt(5 + 2 * index), previousDigest,
    };
    const parameters = canonicalJson(study.questions[0]!.parameters);
    const body = encodeReleaseBody(saidBody(changeAnswers(study.wireForm === 'short'
      ? ofShortAnswer(change({ ...shortRelease, parameters, ...place }))
      : { ...answersBody, ...place }), study));
    previousDigest = signing.sha512(body);
    releases.push({
      body, signature: sign('release', body, signerOf(index)), digest: previousDigest,
    });
  }
  const head = encodeHeadBody(
    changeHead({
      serverKey: signer.publicKey, studyId: id, count: BigInt(count), digest: previousDigest,
      state: 'ended',
    }),
  );
  return {
    studyId: id,
    releases,
    lines: [
      encodeLogLine({
        type: 'study', facts, serverKey: signer.publicKey, signature: sign('study', facts),
      }),
      ...rotations.map((record) => encodeLogLine({ type: 'rotation', record })),
      ...releases.map(({ body, signature }) => encodeLogLine({ type: 'release', body, signature })),
      encodeLogLine({ type: 'head', body: head, signature: sign('head', head) }),
    ],
  };
}

const same = <T>(value: T): T => value;
