// Errors of every private mean under every attack, beside what is possible without privacy. Needs the build:
// npm run bench:accuracy -- --help. Same seeds, same figures, whatever else the machine does (unless --noise secure).
import { writeFileSync } from 'node:fs';
import { filteredMean } from '../../dist/src/robust/filtered-mean.js';
import { attacks, makeRows } from './data.js';
import { readOptions } from './options.js';
import { openPeer } from './peer.js';
import { closePool, locationEstimators, planOf, release } from './private.js';

const distance = (left, right) => Math.hypot(...left.map((entry, j) => entry - right[j]));
const sorted = (list) => [...list].sort((a, b) => a - b);
/** The middle one; of an even number the worse. Refusals count as the worst answers. */
const median = (list) => sorted(list)[list.length >> 1];
const short = (value) => (value >= 100 ? value.toPrecision(2) : value.toFixed(value < 10 ? 4 : 2));

/** Two numbers per method: median and worst error; `Infinity` stands for a refusal. */
function described(errors) {
  if (typeof errors === 'string') return errors;
  const refused = errors.filter((error) => error === Infinity).length;
  const given = errors.filter((error) => error !== Infinity);
  if (given.length === 0) return 'refused';
  return `${short(median(given))} ${short(Math.max(...given))}${refused === 0 ? '' : ` (${refused} refused)`}`;
}

async function cell(name, shape, target, options, { peer, names }) {
  const { dimension, corruption } = shape;
  const plans = new Map(names.map((method) => [method, planOf(method, shape, target, options.parameters)]));
  const errors = new Map([...names, 'sound', 'filter', 'clean'].map((method) => [method, []]));
  for (let seed = 0; seed < options.seeds; seed++) {
    const { values, truth, honestMean } = makeRows(name, { ...shape, seed });
    const note = (method, estimate) =>
      errors.get(method).push(estimate === null ? Infinity : distance(estimate, truth));
    for (const [method, plan] of plans) {
      if (typeof plan === 'string') continue;
      note(method, await release(plan, values, dimension, { seed: `${seed} ${method}`, noise: options.noise }));
    }
    note('filter', [...filteredMean({ count: shape.contributors, dimension, values }, { corruption, scale: 1 }).mean]);
    note('clean', [...honestMean]);
    if (!('missing' in peer)) {
      peer.place(values, dimension);
      note('sound', await peer.run({ corruption, ...target, seed }));
    }
  }
  for (const [method, plan] of plans) if (typeof plan === 'string') errors.set(method, 'infeasible');
  if ('missing' in peer) errors.delete('sound');
  return errors;
}

/** What the issue of robust means in every direction asks: b = corruption sqrt(log(1 / corruption)). */
function boundsOf(corruption, clean) {
  const b = corruption === 0 ? 0 : corruption * Math.sqrt(Math.log(1 / corruption));
  return { median: 1.5 * b + 2 * clean, worst: 2 * b + 2 * clean };
}

function printHead(shape, target, methods) {
  const { dimension, contributors, corruption } = shape;
  console.log(`\nd = ${dimension}, n = ${contributors}, corruption ${corruption}, epsilon ${target.epsilon}, `
    + `delta ${target.delta}; sqrt(d / n) = ${short(Math.sqrt(dimension / contributors))}; errors: median and worst`);
  console.log(['attack', ...methods].map((text, i) => text.padEnd(i === 0 ? 14 : 18)).join(''));
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  const peer = await openPeer(options.peer);
  if ('missing' in peer) console.log(peer.missing);
  const names = locationEstimators(options.estimators);
  const results = [];
  for (const shape of options.cells) {
    for (const target of options.targets) {
      // Without hostile rows all attacks are one.
      const chosen = shape.corruption === 0 ? ['none'] : options.attacks;
      let isFirst = true;
      for (const name of chosen) {
        const errors = await cell(name, shape, target, options, { peer, names });
        if (isFirst) printHead(shape, target, [...errors.keys()]);
        isFirst = false;
        const columns = [...errors.values()].map((list) => described(list).padEnd(18));
        console.log(`${name.padEnd(14)}${columns.join('')}`);
        const clean = median(errors.get('clean'));
        const bounds = boundsOf(attacks[name].isClean ? 0 : shape.corruption, clean);
        results.push({ ...shape, ...target, attack: name, bounds, errors: Object.fromEntries(errors) });
      }
    }
  }
  printBounds(results);
  // JSON has no infinity: a refusal is null.
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, null, 1)}\n`);
  if (!('missing' in peer)) peer.close();
  await closePool();
}

/** In how many rows of the tables above a method stays within b's bounds. */
function printBounds(results) {
  const counts = new Map();
  for (const { errors, bounds } of results) {
    for (const [method, list] of Object.entries(errors)) {
      if (typeof list === 'string') continue;
      const count = counts.get(method) ?? { met: 0, all: 0 };
      count.all += 1;
      count.met += median(list) <= bounds.median && Math.max(...list) <= bounds.worst ? 1 : 0;
      counts.set(method, count);
    }
  }
  console.log('\nrows of the tables with median <= 1.5 b + 2 clean and worst <= 2 b + 2 clean, '
    + 'b = corruption sqrt(log(1 / corruption)):');
  for (const [method, { met, all }] of counts) console.log(`  ${method.padEnd(18)}${met} of ${all}`);
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
  return closePool();
});
