import { InvalidInputError, KeelsonError } from '../../../../src/base/errors.js';
import { logLines, verifyReleaseLog } from '../../../../src/log/index.js';
import { signRotation } from '../../../../src/signing/index.js';
import { signing } from '../../../../src/signing/node.js';
import { readArrow } from '../../../../cli/input/arrow.js';
import { readCsv } from '../../../../cli/input/csv.js';
import { readNdjson } from '../../../../cli/input/ndjson.js';
import { readNpy } from '../../../../cli/input/npy.js';
import { readParquetBytes } from '../../../../cli/input/parquet.js';
import type { RowBatch, RowOptions } from '../../../../cli/input/rows.js';
import { parseStudyText } from '../../../../server/study-file/index.js';
import { sampleLog, type SampleLogOptions } from '../../log-samples.js';
import { sampleStudies } from '../../sample-studies.js';
import { server } from '../../wire-samples.js';
import { Dice } from '../dice.js';
import { must } from '../frames/oracle.js';
import {
  makeArrow, makeCsv, makeLog, makeNdjson, makeNpy, makeParquet, makeStudy,
} from './makers.js';

export const fileKinds = ['study', 'csv', 'ndjson', 'npy', 'log', 'parquet', 'arrow'] as const;
export type FileKind = (typeof fileKinds)[number];

/** What a run did. */
export class FileTally {
  files = 0;
  /** `csv read`, `npy invalid-input`, ... */
  readonly outcomes = new Map<string, number>();
  slowestMs = 0;
  slowest = '';
}

/** What files are changed from. */
export interface Samples {
  readonly studies: readonly string[];
  readonly log: readonly string[];
}

/** Of a server that changed its key after its second release. */
const before = signing.createSigner(new Uint8Array(32).fill(88));
const twoKeys: SampleLogOptions = {
  rotations: [signRotation(before, server, signing)],
  signerOf: (index) => (index < 2 ? before : server),
};

/** @param root of the project. */
export async function readSamples(root: string): Promise<Samples> {
  return {
    studies: sampleStudies(root).map(({ text }) => text),
    log: (await sampleLog(3, twoKeys)).lines,
  };
}

/** Reads one file made from a seed. @throws whatever is neither an answer nor a refusal by name. */
export async function fuzzFile(
  kind: FileKind, seed: number, samples: Samples, tally: FileTally,
): Promise<void> {
  const dice = new Dice(seed, fileKinds.indexOf(kind) + 1);
  const startedMs = performance.now();
  let outcome: string;
  try {
    outcome = await read(kind, dice, samples);
  } catch (error) {
    if (!(error instanceof KeelsonError) || error.code === 'internal'
        || error.code === 'invariant') throw error;
    outcome = error.code;
  }
  const took = performance.now() - startedMs;
  tally.files += 1;
  if (took > tally.slowestMs) Object.assign(tally, { slowestMs: took, slowest: `${kind} ${seed}` });
  const name = `${kind} ${outcome}`;
  tally.outcomes.set(name, (tally.outcomes.get(name) ?? 0) + 1);
}

async function read(kind: FileKind, dice: Dice, samples: Samples): Promise<string> {
  switch (kind) {
    case 'study':
      parseStudyText(makeStudy(samples.studies, dice), { name: 'study.yaml' });
      return 'read';
    case 'csv': return readRows(readCsv, makeCsv(dice), dice);
    case 'ndjson': return readRows(readNdjson, makeNdjson(dice), dice);
    case 'npy': return readRows(readNpy, makeNpy(dice), dice);
    case 'parquet': return readRows(readWhole, makeParquet(dice), dice);
    case 'arrow': return readRows(readArrow, makeArrow(dice), dice);
    case 'log': return readLog(makeLog(samples.log, dice), dice, samples);
  }
}

type Reader = (chunks: AsyncIterable<Uint8Array>, options: RowOptions) => AsyncIterable<RowBatch>;

/** Parquet is read from its end, so it is not read in pieces. */
async function* readWhole(
  pieces: AsyncIterable<Uint8Array>, options: RowOptions,
): AsyncGenerator<RowBatch> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  const bytes = Uint8Array.from(Buffer.concat(all));
  const slice = (start: number, end = bytes.length): Promise<ArrayBuffer> =>
    (start >= 0 && start <= end && end <= bytes.length
      ? Promise.resolve(bytes.buffer.slice(start, end))
      : Promise.reject(new InvalidInputError('no such bytes')));
  yield* readParquetBytes({ byteLength: bytes.length, slice }, options, options.source);
}

const wished = [['0'], ['1', '0'], ['a'], ['c0'], ['9999999'], ['c0', 'c0'], ['__proto__']];

async function readRows(reader: Reader, bytes: Uint8Array, dice: Dice): Promise<string> {
  const options: RowOptions = {
    source: 'file', missing: dice.happens(0.5) ? 'null' : 'refuse',
    ...(dice.happens(0.2) && { columns: dice.pick(wished) }),
    ...(dice.happens(0.15) && { contributor: dice.pick(['0', '1', 'c1', 'b', 'length']) }),
    ...(dice.happens(0.1) && { group: dice.pick(['0', '1', 'c1']) }),
  };
  for await (const batch of reader(inPieces(bytes, dice), options)) {
    const width = batch.columns.length;
    must(batch.values.length >= batch.count * width, 'a batch holds its rows');
    for (let row = 0; row < batch.count; row++) {
      for (let i = 0; i < width; i++) {
        const value = batch.values[row * width + i]!;
        const isEmpty = options.missing === 'null' && Number.isNaN(value);
        must(isEmpty || Number.isFinite(value), 'what is read is finite');
      }
    }
  }
  return 'read';
}

/** Only the log that was signed may pass as the server's. */
async function readLog(bytes: Uint8Array, dice: Dice, samples: Samples): Promise<string> {
  const lines: string[] = [];
  const kept = async function* (): AsyncGenerator<string> {
    for await (const line of logLines(inPieces(bytes, dice))) {
      lines.push(line);
      yield line;
    }
  };
  const report = await verifyReleaseLog(kept(), { signing, serverKey: server.publicKey });
  must(!report.authentic
    || lines.join('\n') === samples.log.join('\n'), 'only the signed log is authentic');
  return report.authentic ? 'authentic' : report.firstFault!.code;
}

async function* inPieces(bytes: Uint8Array, dice: Dice): AsyncGenerator<Uint8Array> {
  if (dice.happens(0.7)) {
    yield bytes;
    return;
  }
  for (let from = 0; from < bytes.length;) {
    const length = 1 + dice.below(Math.max(1, bytes.length / 2));
    yield bytes.subarray(from, from + length);
    from += length;
  }
}
