import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createComputePool } from '../../server/compute/pool.js';
import { niceness } from '../../server/compute/priority.js';
import { WorkerEpochRunner } from '../../server/epochs/worker-runner.js';
import { momentsOfRows, sharedDoubles } from '../../src/numerics/kernels/shards.js';
import { until } from '../support/until.js';
import { define } from '../support/hub-bench.js';

/**
 * How many threads of this process stand back by so many steps. The name before the state may hold
 * anything.
 */
function threadsAt(steps: number): number {
  const wanted = Math.min(19, getPriority() + steps);
  const found = readdirSync('/proc/self/task').map((thread) => {
    const text = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]);
  });
  return found.filter((own) => own === wanted).length;
}

const rows = { values: sharedDoubles(80_000), dimension: 1, count: 80_000 };

describe.runIf(process.platform === 'linux')('threads of releases', () => {
  it('lower their priority only when asked to', async () => {
    for (const [steps, more] of [[0, 0], [niceness.passes, 2]] as const) {
      const before = threadsAt(niceness.passes);
      const pool = createComputePool(2, steps);
      await momentsOfRows(pool, rows);
      // The pass does not wait for a thread that begins late.
      await until(() => threadsAt(niceness.passes) - before === more);
      await pool.close();
    }
  });

  it('include the epochs\' thread', { tags: ['long'] }, async () => {
    const before = threadsAt(niceness.folding);
    const runner = new WorkerEpochRunner({ onDeath: () => undefined });
    const { document, target } = define({});
    await runner.open({
      studyId: 'a', epoch: 1n, document, target, assignmentKey: new Uint8Array(32),
      workSeed: new Uint8Array(32),
    });
    expect(threadsAt(niceness.folding) - before).toBe(1);
    await runner.close();
  });
});
