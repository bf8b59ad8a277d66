import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One call of the system on a file, as strace saw it end. */
export interface TracedCall {
  readonly name: string;
  /** Unix seconds at which it had ended. */
  readonly atSeconds: number;
  /** Text arguments are decoded, as one byte per character; the others are as printed. */
  readonly args: readonly string[];
  /** What the call returned. */
  readonly result: number;
}

/**
 * Which calls are worth tracing: everything by which SQLite and Node change files and make them
 * durable.
 */
export const tracedNames = [
  'openat', 'close', 'write', 'pwrite64', 'writev', 'pwritev', 'fsync', 'fdatasync', 'ftruncate',
  'rename', 'unlink', 'link', 'mkdir', 'sync_file_range', 'fallocate', 'copy_file_range',
] as const;

/**
 * Arguments of strace: one file per thread, times to the microsecond, every byte in hexadecimal.
 */
export function traceArguments(prefix: string): string[] {
  return [
    '-ff', '-ttt', '-T', '-xx', '-s', '10000000', '-e', `trace=${tracedNames.join(',')}`, '-e',
    'signal=none', '-o', prefix,
  ];
}

/**
 * Reads the files of all threads, in the order in which calls ended. Calls that failed or never
 * ended are left out.
 */
export function readTrace(folder: string, prefix: string): TracedCall[] {
  const calls = readdirSync(folder).filter((name) => name.startsWith(`${prefix}.`))
    .flatMap((name) => readFileSync(join(folder, name), 'latin1').split('\n').map(parseLine));
  return calls.filter((call) => call !== null)
    .sort((left, right) => left.atSeconds - right.atSeconds);
}

const lineForm = /^(\d+\.\d+) (\w+)\((.*)\)\s+= (-?\d+)\D.*<(\d+\.\d+)>$/s;

function parseLine(line: string): TracedCall | null {
  const [, start, name, args, result, took] = lineForm.exec(line) ?? [];
  if (start === undefined || Number(result) < 0) return null;
  return {
    name: name!, args: splitArguments(args!), result: Number(result),
    atSeconds: Number(start) + Number(took),
  };
}

/** Text is nothing but hexadecimal here, so that quotes and commas mean what they seem to. */
function splitArguments(text: string): string[] {
  return text.split(', ').map((part) => (part.startsWith('"') ? fromHexEscapes(part) : part));
}

function fromHexEscapes(text: string): string {
  return Buffer.from(text.slice(1, text.lastIndexOf('"')).replaceAll('\\x', ''), 'hex')
    .toString('latin1');
}
