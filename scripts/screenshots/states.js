/* global document, fetch */
// Studies in every state that the dashboard has a picture for, on a real server with simulated
// people.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const columns = ['electricity', 'gas', 'water', 'transport'];
const budget = { epsilon: 60, delta: 1e-5, scope: 'study' };
const one = { reduce: 'one', rowsMax: 1 };
const sharp = { epsilon: 10, delta: 1e-6 };
const flights = ['delay_minutes', 'distance_miles'];

const studies = {
  covariance: {
    study: 'household-energy', columns, cohort: 2600, epoch: { every: '15s' }, contribution: one,
    privacy: sharp, budget, estimator: 'covariance',
    parameters: { 'variance-low': 0.1, 'variance-high': 10 },
  },
  mixture: {
    study: 'delay-kinds', columns: ['delay_minutes'], cohort: 3600, epoch: { every: '15s' },
    contribution: one, privacy: sharp, budget, estimator: 'mixture-1d',
    parameters: { components: 2, resolution: 1 },
  },
  histogram: {
    study: 'delay-bins', columns: ['delay_minutes'], cohort: 3600, epoch: { every: '15s' },
    contribution: one, privacy: { epsilon: 1, delta: 1e-6 }, budget, estimator: 'histogram',
    parameters: { column: 0, edges: [-15, 0, 15, 30, 60, 120] },
  },
  refusal: {
    study: 'flights-left-alone', columns: flights, cohort: 1500, epoch: { every: '5s' },
    privacy: { epsilon: 4, delta: 1e-6 }, budget: { ...budget, epsilon: 24 },
    estimator: 'robust-mean', parameters: { spread: [20, 300], corruption: 0.1 },
  },
  exhausted: {
    study: 'flights-used-up', columns: flights, cohort: 1500, epoch: { every: '5s' },
    privacy: { epsilon: 4, delta: 1e-6 }, budget: { ...budget, epsilon: 10 },
    estimator: 'robust-mean', parameters: { spread: [20, 300], corruption: 0.1 },
  },
  empty: {
    study: 'nobody-asked-yet', columns: flights, cohort: 3000, epoch: { every: '1h' },
    privacy: { epsilon: 1, delta: 1e-6 }, budget: { ...budget, epsilon: 8 },
    estimator: 'populous-mean', parameters: { spread: [20, 300], corruption: 0.1 },
  },
};

/**
 * Pictures are the same every time because the rows are: a small generator with Box and Muller's
 * normals.
 */
function normals(seed) {
  let state = seed;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

function writeRows(path, names, count, row) {
  writeFileSync(
    path, [names, ...Array.from({ length: count }, row)].map((cells) => cells.join()).join('\n'),
  );
  return path;
}

/**
 * @param stage tools for this part of the pictures: `keelson`, `newPage`, `until`, `take`, `port`,
 *   `scratch`.
 */
export async function ofStates({ keelson, newPage, until, take, port, scratch }) {
  const files = Object.entries(studies).map(([name, facts]) => {
    const path = join(scratch, `${name}.json`);
    writeFileSync(path, JSON.stringify(facts));
    return path;
  });
  const [, address] = await keelson(
    [
      'serve', ...files, '--data', join(scratch, 'states'), '--port', String(port), '--log-level',
      'error', '--json',
    ],
    /"address":"(http:[^"]+)"/,
  );
  const draw = normals(7);
  const energy = writeRows(join(scratch, 'energy.csv'), columns, 2600, () => {
    const [size, cold, own, car] = [draw(), draw(), draw(), draw()];
    return [5 + 0.9 * size + 0.4 * own, 8 + 0.8 * size
      + 1.2 * cold, 3 + 0.9 * size + 0.5 * draw(), 4 + 1.3 * car - 0.6 * size];
  });
  const delays = writeRows(join(scratch, 'delays.csv'), ['delay_minutes'], 3600,
    (_, i) => [Math.round(i % 10 < 7 ? -4 + 8 * draw() : 55 + 18 * draw())]);
  const people = (names, count, more) => keelson(
    [
      'simulate', address.replace('http', 'ws'), '--study', names, '--contributors', String(count),
      ...more,
    ],
    /./);
  await Promise.all([
    people('household-energy', 2600, ['--input', energy, '--rows', '1']),
    people('delay-kinds,delay-bins', 3600, ['--input', delays, '--rows', '1']),
    people('flights-left-alone', 1500, ['--epochs', '4']),
    people('flights-used-up', 1500, []),
  ]);
  const page = await newPage();
  const { studies: listed } = await (await fetch(`${address}/v1/studies`)).json();
  const open = (name) =>
    page.goto(`${address}/#/study/${listed.find((each) => each.name === studies[name].study).id}`);
  for (const [name, shown] of [
    ['covariance', '.ellipse'], ['mixture', '.density'], ['histogram', '.bins'],
    ['refusal', 'td.refusal'], ['empty', '.empty'],
  ]) {
    await open(name);
    await page.waitForSelector(shown);
    await take(page, name);
  }
  await open('exhausted');
  await until(page, () => document.querySelector('.notice')?.textContent.includes('used up'));
  await take(page, 'exhausted');
  await page.goto(`${address}/#/`);
  await until(page, () => document.querySelectorAll('.newest').length >= 5);
  await take(page, 'states');
  await page.close();
}
