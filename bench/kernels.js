// Ratios of the kernels' time to ml-matrix and, where /usr/bin/python3 has numpy and scipy, to
// theirs on one thread. Rounds are interleaved and medians shown, since other load moves absolute
// times. CPU time is beside wall time.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { createComputePool } from '../dist/server/compute/pool.js';
import { createKernels } from '../dist/src/numerics/kernels/index.js';
import { momentsOfRows, sharedDoubles } from '../dist/src/numerics/kernels/shards.js';
import { median } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { hasPython, oneThread, projectPath } from './harness/processes.js';

const {
  rows: rowsMax, rounds, dimensions,
} = optionsOf('The time of the kernels as ratios to ml-matrix and numpy.', {
  rows: { usual: 1e6, tiny: 2_000, means: 'of the large product' },
  rounds: { usual: 5, tiny: 1, means: 'of which the median is shown' },
  dimensions: { usual: [100, 200, 500], tiny: [20], means: 'of the matrices' },
});
const kernels = createKernels();
const python = startPython();
if (python === null) {
  console.log('numpy: absent (needs /usr/bin/python3 with numpy and scipy); its columns are empty');
}

function startPython() {
  if (!hasPython('numpy, scipy.linalg')) return null;
  const child = spawn('/usr/bin/python3', [projectPath('bench/kernels_numpy.py')],
    { env: oneThread, stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async time(task) {
      child.stdin.write(`${task}\n`);
      const [wall, cpu] = (await answers.next()).value.split(' ').map(Number);
      return { wall, cpu };
    },
    end: () => child.stdin.end(),
  };
}

async function time(work) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const wall = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { wall, cpu: (user + system) / 1e6 };
}

const shown = (value) => (Number.isFinite(value) ? value.toPrecision(3) : '').padStart(9);

async function compare(name, task, ours, matrixWork) {
  const found = { ours: [], numpy: [], matrix: [] };
  await ours();
  for (let round = 0; round < rounds; round++) {
    found.ours.push(await time(ours));
    if (python !== null) found.numpy.push(await python.time(task));
    if (matrixWork !== null && round < 3) found.matrix.push(await time(matrixWork));
  }
  // Ratios within each round, so that changing load affects both.
  const ratio = (list, unit) => median(list.map((other, i) => found.ours[i][unit] / other[unit]));
  console.log([
    name.padEnd(34), shown(1000 * median(found.ours.map((one) => one.wall))),
    shown(ratio(found.numpy, 'wall')), shown(ratio(found.numpy, 'cpu')),
    shown(ratio(found.matrix, 'wall')),
  ].join(' '));
}

console.log(['kernel'.padEnd(34), '       ms', '  x numpy', '    (CPU)', 'x ml-matrix'].join(' '));
for (const d of dimensions) {
  const matrix = new Float64Array(d * d);
  for (let i = 0; i < d; i++) for (let j = 0;
      j <= i; j++) matrix[i * d + j] = matrix[j * d + i] = Math.sin(i * i + 7 * j);
  const other = Matrix.from1DArray(d, d, matrix);
  const eigenOther = () => new EigenvalueDecomposition(other, { assumeSymmetric: true });
  await compare(
    `eigenvectors, d = ${d}`, `eigen ${d} 0`, () => kernels.eigenSymmetric(matrix, d), eigenOther,
  );
  await compare(`product, d = ${d}`, `product ${d} 0`, () =>
    kernels.product(matrix, matrix, d, d, d), () => other.mmul(other));
  await compare(`exponential, d = ${d}`, `exponential ${d} 0`, () =>
    kernels.exponentialSymmetric(matrix, d), null);
}

const dimension = 100;
const rows = { values: sharedDoubles(rowsMax * dimension), dimension, count: rowsMax };
for (let i = 0; i < rows.values.length; i++) rows.values[i] = Math.sin(i);
for (const threads of [1, 2]) {
  const pool = createComputePool(threads);
  const name =
    `X^T X, n = ${rowsMax}, d = ${dimension}, ${threads} thread${threads === 1 ? '' : 's'}`;
  await compare(name, `gram ${dimension} ${rowsMax}`, () => momentsOfRows(pool, rows), null);
  await pool.close();
}
const some = Math.min(rowsMax, 20_000);
const few = Matrix.from1DArray(some, dimension, rows.values.subarray(0, some * dimension));
await compare(`X^T X, n = ${some}, d = ${dimension}, inline`, `gram ${dimension} ${some}`, () => {
  kernels.gram(rows.values, dimension, some, {}, new Float64Array(dimension * dimension));
}, () => few.transpose().mmul(few));
python?.end();
