import { fromBase64, toBase64 } from '../base/bytes.js';
import { canonicalJson } from '../base/canonical-json.js';
import type { KeyRotation } from '../signing/rotation.js';
import { LogError } from './faults.js';

/** The first line of a log: the study and its server. */
export interface StudyLine {
  readonly type: 'study';
  /** Canonical facts of the study. */
  readonly facts: Uint8Array;
  /**
   * 32 bytes: the newest key. A reader trusts it only if it knows this key, or an earlier key from
   * which rotations lead to it.
   */
  readonly serverKey: Uint8Array;
  /** 64 bytes, with the label "study". */
  readonly signature: Uint8Array;
}

/** A change of the server's key. All of these lines come after the study line, in order. */
export interface RotationLine {
  readonly type: 'rotation';
  /** 192 bytes. */
  readonly record: KeyRotation;
}

/** A release. Releases are in the order of their indexes. */
export interface ReleaseLine {
  readonly type: 'release';
  /** An encoded ReleaseBody. */
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
}

/** The last line. It counts the releases, so that a shortened log is noticed. */
export interface HeadLine {
  readonly type: 'head';
  /** An encoded HeadBody. */
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
}

export type LogLine = StudyLine | RotationLine | ReleaseLine | HeadLine;

/** The byte fields of each kind of line. */
const memberNames = {
  study: ['facts', 'serverKey', 'signature'],
  rotation: ['record'],
  release: ['body', 'signature'],
  head: ['body', 'signature'],
} as const;

/** One line of a release log, without its newline: canonical JSON whose byte fields are base64. */
export function encodeLogLine(line: LogLine): string {
  const fields = line as unknown as Readonly<Record<string, Uint8Array>>;
  const texts =
    memberNames[line.type].map((name): [string, string] => [name, toBase64(fields[name]!)]);
  return canonicalJson({ type: line.type, ...Object.fromEntries(texts) });
}

/**
 * Reads one line, without its newline. Only the exact text that `encodeLogLine` writes is accepted.
 * So a log has one form, and no byte of it can change unnoticed.
 * @throws LogError('line-malformed')
 */
export function decodeLogLine(text: string): LogLine {
  let line: LogLine | undefined;
  try {
    line = readLine(JSON.parse(text));
  } catch (cause) {
    throw new LogError(
      'line-malformed', 'the line is not a JSON object with base64 members', {}, cause,
    );
  }
  if (line === undefined || encodeLogLine(line) !== text) {
    throw new LogError(
      'line-malformed', 'the line is not a study, rotation, release or head in canonical form',
    );
  }
  return line;
}

function readLine(value: unknown): LogLine | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const members = value as Readonly<Record<string, unknown>>;
  const { type } = members;
  if (typeof type !== 'string' || !Object.hasOwn(memberNames, type)) return undefined;
  // If a member is missing or not text, the canonical text of the line differs from the text read.
  const fields =
    memberNames[type as LogLine['type']].map((name) => [name, fromBase64(String(members[name]))]);
  const bytesByName = Object.fromEntries(fields) as Readonly<Record<string, Uint8Array>>;
  return { type, ...bytesByName } as unknown as LogLine;
}

/** Far above a release with all its columns. A file without newlines must not fill the memory. */
const lineCharactersMax = 64 * 1024 * 1024;

/**
 * Splits a file into lines. Each ends with a newline, so a log has one form, and one that was cut
 * short is noticed.
 * @throws LogError('line-malformed') when the bytes are not UTF-8, a line has more than 64 Mi
 *   characters, or the last one has no newline.
 */
export async function* logLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw new LogError('line-malformed', 'the log is not UTF-8', {}, cause);
    }
  };
  let parts: string[] = [];
  let characters = 0;
  for await (const chunk of chunks) {
    const pieces = decode(chunk).split('\n');
    for (const [i, piece] of pieces.entries()) {
      parts.push(piece);
      characters += piece.length;
      if (characters > lineCharactersMax) {
        throw new LogError(
          'line-malformed', `a line of the log has more than ${lineCharactersMax} characters`,
        );
      }
      if (i === pieces.length - 1) continue;
      yield parts.join('');
      parts = [];
      characters = 0;
    }
  }
  const rest = parts.join('') + decode();
  if (rest !== '') {
    throw new LogError('line-malformed', 'the last line has no newline: the log may be cut short');
  }
}
