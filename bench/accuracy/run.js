// Errors of every private mean under every attack, beside the errors that are possible without
// privacy. Same seeds, same figures, whatever the load of the machine (unless --noise secure).
import { filteredMean } from '../../dist/src/robust/filtered-mean.js';
import { writePart } from '../harness/pages.js';
import { makeRows } from './data.js';
import { readOptions } from './options.js';
import { openPeer } from './peer.js';
import { closePool, locationEstimators, planOf, release } from './private.js';
import { openResults } from './results.js';
import { briefOf } from './brief.js';
import { boundsTable, cellsOf, cellTitle, markdownOf, rowOf } from './table.js';

/**
 * Errors of one seed by method: null for a refusal, 'infeasible' if there is no plan.
 * @param wanted - only these methods. `plans` has all private ones.
 */
async function errorsOf({ attack, seed, ...cell }, wanted, plans, options, peer) {
  const { dimension, contributors, corruption } = cell;
  const errors = {};
  const planned = wanted.filter((method) => typeof plans.get(method) !== 'string');
  for (const method of wanted) if (!planned.includes(method)) errors[method] = 'infeasible';
  if (planned.length === 0) return errors;
  const { values, truth, honestMean, inDeviations } = makeRows(attack, { ...cell, seed });
  const estimateOf = (method) => {
    const plan = plans.get(method);
    if (plan !== undefined) {
      return release(plan, values, dimension, { seed: `${seed} ${method}`, noise: options.noise });
    }
    if (method === 'clean') return [...honestMean];
    if (method === 'filter') {
      return [
        ...filteredMean({ count: contributors, dimension, values }, { corruption, spread: 1 }).mean,
      ];
    }
    peer.place(values, dimension);
    return peer.run({ ...cell, seed });
  };
  for (const method of planned) {
    const estimate = await estimateOf(method);
    errors[method] = estimate === null
      ? null : Math.hypot(...inDeviations(estimate.map((entry, j) => entry - truth[j])));
  }
  return errors;
}

/** Results that do not depend on privacy, if another target with the same rows has them already. */
function publicErrors(results, at, targets) {
  const others = targets.map((target) => results.errorsAt({ ...at, ...target }));
  return Object.fromEntries(['filter', 'clean'].flatMap((method) => {
    const found = others.find((errors) => Object.hasOwn(errors, method));
    return found === undefined ? [] : [[method, found[method]]];
  }));
}

async function measure(options) {
  const peer = await openPeer(options.peer);
  if ('missing' in peer) console.log(peer.missing);
  const names = locationEstimators(options.estimators);
  const methods = [...names, ...('missing' in peer ? [] : ['sound']), 'filter', 'clean'];
  const results = openResults(options.out);
  for (const shape of options.cells) {
    for (const target of options.targets) {
      const cell = { ...shape, ...target };
      const plans =
        new Map(names.map((method) => [method, planOf(method, shape, target, options.parameters)]));
      console.log(`\n${cellTitle(cell)}; errors: median and worst`);
      console.log(['attack', ...methods].map((text, i) => text.padEnd(i === 0 ? 14 : 18)).join(''));
      // Without hostile rows, all attacks are the same.
      for (const attack of shape.corruption === 0 ? ['none'] : options.attacks) {
        for (let seed = 0; seed < options.seeds; seed++) {
          const at = { ...cell, attack, seed };
          const own = results.errorsAt(at);
          const known = { ...publicErrors(results, at, options.targets), ...own };
          const wanted = methods.filter((method) => !Object.hasOwn(known, method));
          const found = wanted.length > 0 ? await errorsOf(at, wanted, plans, options, peer) : {};
          if (methods.some((method) => !Object.hasOwn(own, method))) {
            results.add(at, { ...known, ...found });
          }
        }
        const row = rowOf(results.lines, { ...cell, attack });
        console.log([attack.padEnd(14), ...methods.map((method) => row.text(method).padEnd(18))]
          .join(''));
      }
    }
  }
  console.log(boundsTable(cellsOf(results.lines)));
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.table === undefined) await measure(options);
  else {
    const { lines } = openResults(...options.table);
    if (options.into === undefined) console.log(`${briefOf(lines)}\n${markdownOf(lines)}`);
    else writePart(options.into, marks, briefOf(lines));
  }
  await closePool();
}

/** Around the tables in a page. */
const marks = [
  '<!-- tables: made by npm run bench:accuracy -- means --table -->', '<!-- end of tables -->',
];

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
  return closePool();
});
