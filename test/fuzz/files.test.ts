import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { KeelsonError } from '../../src/base/errors.js';
import { npyHeaderBytes, npyMagic, parseNpyHeader } from '../../cli/input/npy-header.js';
import { readNpy } from '../../cli/input/npy.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { fileKinds, FileTally, fuzzFile, readSamples } from '../support/fuzz/files/run.js';
import { sampleStudies } from '../support/sample-studies.js';
import { root } from '../support/sources.js';

const samples = sampleStudies(root).map(({ text }) => text);

/** True when it was read, false when it was refused by name; anything else fails the test. */
function isRead(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(KeelsonError);
    expect((error as KeelsonError).code).not.toBe('internal');
    return false;
  }
}

/** Text that stands in study files, and text that should not. */
const token = fc.oneof(
  fc.constantFrom(
    '{', '}', '[', ']', ': ', '- ', '&a ', '*a', '!!js ', '|', '\n', '\t', '"', '1e400', '-0',
    '.nan', '~',
  ),
  fc.double().map(String), fc.string({ maxLength: 8 }),
);

describe('files made to harm', () => {
  it('study files with pieces replaced, moved or cut are read or refused by name', {
    tags: ['slow'],
  }, () => {
    const edit = fc.tuple(fc.nat(), fc.nat({ max: 20 }), token);
    fc.assert(
      fc.property(
        fc.constantFrom(...samples), fc.array(edit, { minLength: 1, maxLength: 4 }),
        (text, edits) => {
          let changed = text;
          for (const [at, length, put] of edits) {
            const from = at % (changed.length + 1);
            changed = changed.slice(0, from) + put + changed.slice(from + length);
          }
          isRead(() => parseStudyText(changed, { name: 'study.yaml' }));
        },
      ), { seed: 7, numRuns: 300 },
    );
  });

  it('study files cannot make the process write their text to standard error', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    expect(isRead(() =>
      parseStudyText(`${samples[0]!}\n? { secret: 1 }\n: 2\n`, { name: 'study.yaml' })))
      .toBe(false);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  it('.npy headers of any text are read or refused by name', () => {
    const field = fc.constantFrom(
      '\'descr\': \'<f8\', ', '\'descr\': \'>f4\', ', '\'descr\': \'|O\', ',
      '\'fortran_order\': False, ', '\'fortran_order\': True, ', '\'shape\': (3, 2), ',
      '\'shape\': (), ', '\'shape\': (1,2,3), ', '\'shape\': (1L,), ',
      '\'shape\': (99999999999999999999,), ', '{', '}', '\n',
    );
    const texts =
      fc.array(fc.oneof({ weight: 4, arbitrary: field }, token), { minLength: 3, maxLength: 8 });
    let read = 0;
    fc.assert(fc.property(texts, fc.constantFrom(1, 2, 3), (parts, version) => {
      const bytes = npyFile(version, parts.join(''));
      expect(npyHeaderBytes(bytes, 'rows.npy')).toBe(bytes.length);
      if (isRead(() => parseNpyHeader(bytes, 'rows.npy'))) read += 1;
    }), { seed: 7, numRuns: 2000 });
    expect(read).toBeGreaterThan(20);
  });

  it('.npy headers that claim more columns than memory holds are refused before lists of them are '
    + 'made', async () => {
    for (const columns of ['4000000000', '9007199254740991', '1048577']) {
      const bytes =
        npyFile(1, `{'descr': '<f8', 'fortran_order': False, 'shape': (1, ${columns}), }`);
      const reading = readNpy(
        async function* () { yield bytes; }(), { source: 'rows.npy', missing: 'refuse' },
      ).next();
      await expect(reading).rejects.toThrow(/claims \d+ columns, at most 1048576/);
    }
  });

  it('files of every kind, changed everywhere, are read or refused by name', {
    tags: ['slow'],
  }, async () => {
    const samples = await readSamples(root);
    const tally = new FileTally();
    for (const kind of fileKinds) {
      for (let seed = 1;
          seed <= (kind === 'study' ? 40 : 250); seed++) await fuzzFile(kind, seed, samples, tally);
    }
    for (const met of [
      'csv read', 'ndjson read', 'npy read', 'study read', 'log authentic', 'log signature-invalid',
        'parquet read', 'arrow read', 'parquet invalid-input', 'arrow invalid-input',
        'csv invalid-input', 'ndjson invalid-input', 'npy invalid-input', 'study invalid-study',
    ]) {
      expect(tally.outcomes.get(met) ?? 0, met).toBeGreaterThan(0);
    }
  });
});

function npyFile(version: number, header: string): Uint8Array {
  const text = Buffer.from(header, version === 1 ? 'latin1' : 'utf8');
  const start = Buffer.alloc(version === 1 ? 10 : 12);
  start.set(npyMagic);
  start[6] = version;
  if (version === 1) start.writeUInt16LE(text.length, 8);
  else start.writeUInt32LE(text.length, 8);
  return new Uint8Array(Buffer.concat([start, text]));
}
