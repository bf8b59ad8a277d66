import { signing } from '#signing';
import { describedOutcome, describedQuestions } from '../../src/answers/describe.js';
import { canonicalJson } from '../../src/base/canonical-json.js';
import { signStatement, type Signer } from '../../src/signing/index.js';
import {
  encodeHeadBody, encodeReleaseBody, ofShortAnswer, type ServerFrame, type SignedRelease,
  type StudyDocument, type WireStudyState,
} from '../../src/wire/index.js';
import { shortRelease, type ShortRelease } from './samples.js';

/** A log under the key of a scripted server. */
export interface ScriptedLog {
  readonly signer: Signer;
  readonly studyId: Uint8Array;
  readonly document: StudyDocument;
  readonly state: WireStudyState;
  readonly releases: readonly SignedRelease[];
}

/**
 * The release of this index, signed.
 * @param previous replaces the digest that it should name.
 */
export function scriptedRelease(
  { signer, studyId, document, releases }: ScriptedLog, index: bigint, previous?: Uint8Array,
  change: Partial<ShortRelease> = {},
): SignedRelease {
  const { study, participation, cohort, columns } = document;
  const { estimator, parameters } = document.questions[0]!;
  const body = encodeReleaseBody(ofShortAnswer({
    ...shortRelease, serverKey: signer.publicKey, studyId, study, estimator,
    parameters: canonicalJson(parameters), participation, columns,
    cohort: BigInt(cohort), index, epoch: 7n + index,
    previousDigest: previous ?? digestOf(releases, Number(index)), ...change,
    outcome: describedOutcome(
      describedQuestions(document)[0]!, change.outcome ?? shortRelease.outcome),
  }));
  const signature = signStatement('release', signer, studyId, signing.sha512(body));
  return { kind: 'release', body, signature };
}

/** @param count of the releases that it says are there. */
export function scriptedHead(
  { signer, studyId, state, releases }: ScriptedLog, count: number,
): ServerFrame {
  const body = encodeHeadBody({
    serverKey: signer.publicKey, studyId, count: BigInt(count), digest: digestOf(releases, count),
    state,
  });
  const signature = signStatement('head', signer, studyId, signing.sha512(body));
  return { kind: 'head', body, signature };
}

/** The digest of the last one of so many releases. */
function digestOf(releases: readonly SignedRelease[], count: number): Uint8Array {
  return count === 0 ? new Uint8Array(64) : signing.sha512(releases[count - 1]!.body);
}
