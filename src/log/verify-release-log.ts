import { equalBytes, fromHex, toHex } from '../base/bytes.js';
import { WireError } from '../base/errors.js';
import { protocolLimits } from '../base/limits.js';
import { keyFingerprint } from '../signing/fingerprint.js';
import { verifyStatement } from '../signing/message.js';
import type { Signing, Verifier } from '../signing/contract.js';
import { keyChain, keysOfRotation, type KeyRotation } from '../signing/rotation.js';
import {
  type Answer, type ReleaseBody, type WireStudyState,
} from '../wire/messages.js';
import { decodeStudyDocument, studyId as studyIdOf } from '../wire/study-codec.js';
import type { StudyDocument } from '../wire/study-document.js';
import { derivedPartsAgree } from './derived.js';
import { LogError, type LogFaultCode } from './faults.js';
import { factsNow } from './earlier-facts.js';
import { decodeLogLine, type LogLine, type RotationLine, type StudyLine } from './log-line.js';
import { ReleaseChain } from './release-chain.js';
import { RememberedCheck } from './remembered.js';
import { RunningCheck } from './running.js';

export interface LogVerification {
  readonly signing: Signing;
  /**
   * 32 bytes: any key that the server had. Without it, the log is checked against the key that it
   * names.
   */
  readonly serverKey?: Uint8Array;
  /** Gets each release once it is verified, in the order of the log, and its study. */
  readonly onRelease?: (release: ReleaseBody, document: StudyDocument) => void;
}

/** The first fault of a log. */
export interface LogFault {
  readonly code: LogFaultCode;
  /** From 1. One past the last line if the end is missing. */
  readonly line: number;
  readonly text: string;
}

export interface LogReport {
  /** No fault was found. The check used the given key, or the key in the log if none was given. */
  readonly consistent: boolean;
  /**
   * Consistent, and signed by the given key or by keys to which the log's rotations lead from it.
   */
  readonly authentic: boolean;
  /** Number of releases before the first fault. All of them verified. */
  readonly count: number;
  /** The answers of the last of them, in the order of the questions; empty without one. */
  readonly lastAnswers: readonly Answer[];
  /** Lower-case hex; null when no study line could be read. */
  readonly studyId: string | null;
  readonly document: StudyDocument | null;
  /**
   * Lower-case hex of the key that the log names, the newest; null when no study line could be
   * read.
   */
  readonly serverKey: string | null;
  /** Lower-case hex of the server's earlier keys, oldest first; empty if its key never changed. */
  readonly earlierKeys: readonly string[];
  readonly fingerprint: string | null;
  /** State of the study when the head was signed; null without a valid head. */
  readonly state: WireStudyState | null;
  readonly firstFault: LogFault | null;
}

interface Progress {
  line: number;
  count: number;
  lastAnswers: readonly Answer[];
  study?: { readonly id: string; readonly document: StudyDocument; readonly serverKey: Uint8Array };
  rotations: KeyRotation[];
  earlier: readonly Verifier[];
  chain?: ReleaseChain;
  running?: RunningCheck;
  remembered?: RememberedCheck;
  state?: WireStudyState;
}

/**
 * Checks a release log from its study line to its head, with one line in memory at a time. It
 * checks the signatures over the exact bytes, that there is one study and one server, that both
 * keys signed each change of key, indexes from 0 without gaps, increasing epochs, the chain of
 * digests, and that the head counts all releases. It stops at the first fault.
 * @param lines without their newlines, as `logLines` gives them.
 */
export async function verifyReleaseLog(
  lines: AsyncIterable<string> | Iterable<string>,
  options: LogVerification,
): Promise<LogReport> {
  const progress: Progress = {
    line: 1, count: 0, lastAnswers: [], rotations: [], earlier: [],
  };
  try {
    for await (const text of lines) {
      await takeLine(progress, decodeLogLine(text), options);
      progress.line++;
    }
    if (progress.study === undefined) {
      throw new LogError('study-missing', 'the log is empty: it begins with its study');
    }
    chainOf(progress, progress.study, options);
    if (progress.state === undefined) {
      throw new LogError(
        'head-missing', 'the log has no head at its end: its last lines are missing',
      );
    }
    return report(progress, options, null);
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    return report(
      progress, options, { code: error.fault, line: progress.line, text: error.message },
    );
  }
}

async function takeLine(
  progress: Progress, line: LogLine, options: LogVerification,
): Promise<void> {
  if (progress.state !== undefined) {
    throw new LogError('line-after-head', 'the log goes on after its head');
  }
  if (line.type === 'study') {
    if (progress.study !== undefined) {
      throw new LogError('study-repeated', 'a log has one study line');
    }
    await takeStudy(progress, line, options);
    return;
  }
  const { study } = progress;
  if (study === undefined) {
    throw new LogError(
      'study-missing', `the log begins with a ${line.type}: its study line is missing`,
    );
  }
  if (line.type === 'rotation') takeRotation(progress, line, options);
  else if (line.type === 'release') {
    const release = chainOf(progress, study, options).accept(line);
    const { answers } = release;
    const asked = study.document.questions;
    if (!asked.every((question, i) => derivedPartsAgree(question, answers[i]!.outcome))) {
      throw new LogError(
        'derived-mismatch', `the quantiles of release ${release.index} do not follow from its counts`,
      );
    }
    const fault = (progress.running ??= new RunningCheck(study.document)).take(release);
    if (fault !== null) throw new LogError('derived-mismatch', `release ${release.index}: ${fault}`);
    progress.remembered ??= new RememberedCheck(asked);
    const missing = progress.remembered.take(answers.map(({ outcome }) => outcome));
    if (missing !== null) {
      throw new LogError('keys-malformed', `release ${release.index}: ${missing}`);
    }
    progress.lastAnswers = answers;
    progress.count++;
    options.onRelease?.(release, study.document);
  } else {
    progress.state = chainOf(progress, study, options).checkHead(line).state;
  }
}

/**
 * Accepts at most as many rotations as a server makes, so that a file cannot keep a verifier busy.
 */
function takeRotation(progress: Progress, line: RotationLine, { signing }: LogVerification): void {
  if (progress.chain !== undefined) {
    throw new LogError('rotation-invalid', 'a change of the server\'s key comes after releases: '
      + 'all come before them');
  }
  if (progress.rotations.length >= protocolLimits.keyRotations) {
    throw new LogError('rotation-invalid', `a log has at most ${protocolLimits.keyRotations} `
      + `changes of the server's key`);
  }
  const before = progress.rotations.slice(-1);
  keysOf([...before, line.record], keysOfRotation(line.record).nextKey, signing);
  progress.rotations.push(line.record);
}

function keysOf(
  rotations: readonly KeyRotation[], serverKey: Uint8Array, signing: Signing,
): readonly Verifier[] {
  try {
    return keyChain(rotations, serverKey, signing);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new LogError('rotation-invalid', cause.message, {}, cause);
  }
}

/**
 * Makes the chain of releases after the last rotation: only then all keys that may sign are known.
 */
function chainOf(
  progress: Progress, study: NonNullable<Progress['study']>,
  { signing, serverKey }: LogVerification,
): ReleaseChain {
  if (progress.chain !== undefined) return progress.chain;
  const keys = keysOf(progress.rotations, study.serverKey, signing);
  progress.earlier = keys.slice(0, -1);
  if (serverKey !== undefined && !keys.some((key) => equalBytes(key.publicKey, serverKey))) {
    // The study line names the key, so a fault of the key is on line 1.
    progress.line = 1;
    throw new LogError(
      'server-key-mismatch', `the log is signed by ${toHex(study.serverKey)}, not by the key given`,
    );
  }
  const { id, document } = study;
  progress.chain = new ReleaseChain({
    server: keys.at(-1)!, earlier: progress.earlier, signing, studyId: fromHex(id), document,
  });
  return progress.chain;
}

async function takeStudy(
  progress: Progress, line: StudyLine, { signing }: LogVerification,
): Promise<void> {
  const server = createVerifier(signing, line.serverKey);
  const id = await studyIdOf(line.facts, signing);
  const studyId = fromHex(id);
  if (!verifyStatement('study', server, studyId, signing.sha512(line.facts), line.signature)) {
    throw new LogError(
      'signature-invalid', 'the signature of the study is not of the server key beside it',
    );
  }
  const document = readFacts(line.facts);
  progress.study = { id, document, serverKey: line.serverKey };
}

function createVerifier(signing: Signing, key: Uint8Array): Verifier {
  try {
    return signing.createVerifier(key);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new LogError('server-key-invalid', cause.message, {}, cause);
  }
}

function readFacts(facts: Uint8Array): StudyDocument {
  try {
    return decodeStudyDocument(factsNow(facts).facts);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new LogError('study-malformed', cause.message, {}, cause);
  }
}

function report(
  progress: Progress, { signing, serverKey }: LogVerification, firstFault: LogFault | null,
): LogReport {
  const { study } = progress;
  return {
    consistent: firstFault === null,
    authentic: firstFault === null && serverKey !== undefined,
    count: progress.count,
    lastAnswers: progress.lastAnswers,
    studyId: study?.id ?? null,
    document: study?.document ?? null,
    serverKey: study === undefined ? null : toHex(study.serverKey),
    earlierKeys: progress.earlier.map((key) => toHex(key.publicKey)),
    fingerprint: study === undefined ? null : keyFingerprint(study.serverKey, signing),
    state: firstFault === null ? (progress.state ?? null) : null,
    firstFault,
  };
}
