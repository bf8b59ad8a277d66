import { expect, it } from 'vitest';
import { utf8 } from '../../src/base/bytes.js';
import type { Question } from '../../src/base/questions.js';
import { StudyReduction } from '../../src/questions/reduction.js';
import { seededRandom } from '../../src/random/work.js';
import type { AcceptedBatch } from '../../server/epochs/contract.js';
import { OpenContributions, recordRanks, reduceBatch } from '../../server/epochs/reduction.js';
import { keyOf } from '../support/hub-bench.js';

const key = new Uint8Array(32).fill(9);
const random = seededRandom(utf8('two reducers'));

/** A contribution in batches. Sums of whole numbers are exact, in whatever order they are added. */
function batchesOf(contributor: number, columns: number): readonly AcceptedBatch[] {
  const count = 1 + Math.floor(3 * random.uniform());
  return Array.from({ length: count }, (_, i) => {
    const rows = 1 + Math.floor(9 * random.uniform());
    const values = Float64Array.from({ length: rows * columns }, () => {
      const value = 2_000 * random.uniform() - 1_000;
      return count === 1 ? value : Math.round(value);
    });
    const sequence = BigInt(i + 1);
    return { contributor: keyOf(contributor), sequence, values, rows, complete: i === count - 1 };
  });
}

it.each(['mean', 'sum', 'one'] as const)(
  'both reducers give the same rows of random contributions: %s', (reduce) => {
    for (let contributor = 0; contributor < 600; contributor++) {
      const columns = Array.from({ length: 1 + (contributor % 6) }, (_, i) => `c${i}`);
      const question: Question = {
        name: 'answer', estimator: 'mean', parameters: {}, columns, where: [], reduce, share: 100,
      };
      const reduction = new StudyReduction([question], { columns });
      const [open, contribution] = [new OpenContributions(reduce), reduction.empty()];
      let row: Float64Array | null = null;
      for (const batch of batchesOf(contributor, columns.length)) {
        row = open.take(reduceBatch(reduce, columns.length, key, batch));
        const ranks = reduction.needsRanks ? recordRanks(key, batch) : null;
        reduction.add(contribution, { values: batch.values, rows: batch.rows, ranks }, {
          keySecret: () => key,
        });
      }
      expect(reduction.rowsOf(contribution)).toEqual([[row]]);
    }
  });
