import { equalBytes, fromHex, toHex } from '../base/bytes.js';
import { WireError } from '../base/errors.js';
import { keyFingerprint } from '../signing/fingerprint.js';
import { verifyStatement } from '../signing/message.js';
import type { Signing, Verifier } from '../signing/contract.js';
import type { WireStudyState } from '../wire/messages.js';
import { decodeStudyDocument, studyId as studyIdOf } from '../wire/study-codec.js';
import type { StudyDocument } from '../wire/study-document.js';
import { LogError, type LogFaultCode } from './faults.js';
import { decodeLogLine, type LogLine, type StudyLine } from './log-line.js';
import { ReleaseChain } from './release-chain.js';

export interface LogVerification {
  readonly signing: Signing;
  /** 32 bytes. Without it the log can only be checked against the key it names itself. */
  readonly serverKey?: Uint8Array;
}

/** The first thing that is wrong with a log. */
export interface LogFault {
  readonly code: LogFaultCode;
  /** From 1. One past the last line when something is missing at the end. */
  readonly line: number;
  readonly text: string;
}

export interface LogReport {
  /** No fault was found, against the key given or, when none was, against the one in the log. */
  readonly consistent: boolean;
  /** Consistent, and signed by the key that the caller gave. */
  readonly authentic: boolean;
  /** Releases verified before the first fault. */
  readonly count: number;
  /** Lower-case hex; null when no study line could be read. */
  readonly studyId: string | null;
  readonly document: StudyDocument | null;
  /** Lower-case hex of the key that the log names; null when no study line could be read. */
  readonly serverKey: string | null;
  readonly fingerprint: string | null;
  /** How the study stood when the head was signed; null without a good head. */
  readonly state: WireStudyState | null;
  readonly firstFault: LogFault | null;
}

interface Progress {
  line: number;
  count: number;
  study?: { readonly id: string; readonly document: StudyDocument; readonly serverKey: Uint8Array };
  chain?: ReleaseChain;
  state?: WireStudyState;
}

/**
 * Checks a release log from its study line to its head, one line in memory at a time: signatures
 * over the exact bytes, one study and one server, indexes from 0 without gaps, increasing epochs,
 * the chain of digests, and a head that counts all of it. Stops at the first fault.
 * @param lines without their newlines, as `logLines` gives them.
 */
export async function verifyReleaseLog(
  lines: AsyncIterable<string> | Iterable<string>,
  options: LogVerification,
): Promise<LogReport> {
  const progress: Progress = { line: 1, count: 0 };
  try {
    for await (const text of lines) {
      await takeLine(progress, decodeLogLine(text), options);
      progress.line++;
    }
    if (progress.study === undefined) throw new LogError('study-missing', 'the log is empty: it begins with its study');
    if (progress.state === undefined) {
      throw new LogError('head-missing', 'the log has no head at its end: its last lines are missing');
    }
    return report(progress, options, null);
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    return report(progress, options, { code: error.fault, line: progress.line, text: error.message });
  }
}

async function takeLine(progress: Progress, line: LogLine, options: LogVerification): Promise<void> {
  if (progress.state !== undefined) throw new LogError('line-after-head', 'the log goes on after its head');
  if (line.type === 'study') {
    if (progress.study !== undefined) throw new LogError('study-repeated', 'a log has one study line');
    await takeStudy(progress, line, options);
    return;
  }
  if (progress.chain === undefined) {
    throw new LogError('study-missing', `the log begins with a ${line.type}: its study line is missing`);
  }
  if (line.type === 'release') {
    progress.chain.accept(line);
    progress.count++;
  } else {
    progress.state = progress.chain.checkHead(line).state;
  }
}

async function takeStudy(progress: Progress, line: StudyLine, { signing, serverKey }: LogVerification): Promise<void> {
  const server = createVerifier(signing, line.serverKey);
  const id = await studyIdOf(line.facts, signing);
  const studyId = fromHex(id);
  if (!verifyStatement('study', server, studyId, signing.sha512(line.facts), line.signature)) {
    throw new LogError('signature-invalid', 'the signature of the study is not of the server key beside it');
  }
  const document = readFacts(line.facts);
  progress.study = { id, document, serverKey: line.serverKey };
  if (serverKey !== undefined && !equalBytes(line.serverKey, serverKey)) {
    throw new LogError('server-key-mismatch', `the log is signed by ${toHex(line.serverKey)}, not by the key given`);
  }
  progress.chain = new ReleaseChain({ server, signing, studyId, document });
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
    return decodeStudyDocument(facts);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new LogError('study-malformed', cause.message, {}, cause);
  }
}

function report(progress: Progress, { signing, serverKey }: LogVerification, firstFault: LogFault | null): LogReport {
  const { study } = progress;
  return {
    consistent: firstFault === null,
    authentic: firstFault === null && serverKey !== undefined,
    count: progress.count,
    studyId: study?.id ?? null,
    document: study?.document ?? null,
    serverKey: study === undefined ? null : toHex(study.serverKey),
    fingerprint: study === undefined ? null : keyFingerprint(study.serverKey, signing),
    state: firstFault === null ? (progress.state ?? null) : null,
    firstFault,
  };
}
