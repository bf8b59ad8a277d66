import { parseArgs } from 'node:util';
import { attacks, shapes } from './data.js';

const usage =
  `npm run bench:accuracy -- means [--estimator mean,prime] [--attack all] [--dimension 10] [--contributors 1e5]
  [--corruption .05] [--epsilon 1] [--delta 1e-6] [--seeds 7] [--set name=value] [--noise seeded|secure]
  [--rows normal,lognormal,...] [--peer run_prime.py] [--out FILE] [--tiny] [--quick] [--grid]
npm run bench:accuracy -- means --table FILE[,FILE] [--into docs/results/accuracy.md]
Lists are separated by commas; epsilon and delta are paired by place, a single delta serves all.
--out: every seed's errors are added to FILE, a line each; what FILE holds already is not measured again, so that a
table can be made in pieces. --table: a line for each cell of such files, and all their tables; --into writes the lines
into a page, between its marks.
--tiny: one cell, in seconds; --quick: a few cells that take under three minutes; --grid: every cell, which takes hours.`;

const presets = {
  tiny: {
    dimension: '2', contributors: '5e3', corruption: '.05', epsilon: '20', delta: '.01', seeds: '1',
  },
  quick: {
    dimension: '10', contributors: '2e4,5e4', corruption: '.05', epsilon: '1,20', delta: '1e-6,.01',
    seeds: '3',
  },
  grid: {
    dimension: '5,10,20,50', contributors: '2e4,1e5,2e5,1e6', corruption: '0,.02,.05,.1',
    epsilon: '.5,1,4,20', delta: '1e-6,1e-6,1e-6,.01', seeds: '7',
  },
  plain: {
    dimension: '10', contributors: '1e5', corruption: '.05', epsilon: '1', delta: '1e-6',
    seeds: '7',
  },
};
const quickAttacks = 'none,ones,coordinate,point,far,inliers,moved';

function numbers(text, name, isRight) {
  const list = text.split(',').map(Number);
  if (list.length > 0 && list.every((value) => Number.isFinite(value) && isRight(value))) {
    return list;
  }
  throw new Error(`--${name} ${text}: a number or a list of numbers is wanted`);
}

/** @throws Error that states the fault in words. */
export function readOptions(args) {
  const text = { type: 'string' };
  const { values } = parseArgs({
    args,
    options: {
      estimator: text, attack: text, dimension: text, contributors: text, corruption: text,
      epsilon: text, delta: text, seeds: text, noise: text, peer: text, out: text, rows: text,
      table: text, into: text, set: { type: 'string', multiple: true }, tiny: { type: 'boolean' },
      quick: { type: 'boolean' }, grid: { type: 'boolean' }, help: { type: 'boolean' },
    },
  });
  if (values.help) throw new Error(usage);
  const preset = values.grid
    ? presets.grid : values.tiny ? presets.tiny : values.quick ? presets.quick : presets.plain;
  const asked = { ...preset, ...values };
  const whole = (value) => Number.isInteger(value) && value > 0;
  const epsilons = numbers(asked.epsilon, 'epsilon', (value) => value > 0);
  const deltas = numbers(asked.delta, 'delta', (value) => value > 0 && value < 0.5);
  if (deltas.length !== 1 && deltas.length !== epsilons.length) {
    throw new Error('--delta: one, or one for each epsilon');
  }
  const names = (asked.attack ?? (values.quick || values.tiny ? quickAttacks : 'all')).split(',');
  const chosen = names.includes('all') ? Object.keys(attacks) : names;
  const unknown = chosen.find((name) => !Object.hasOwn(attacks, name));
  if (unknown !== undefined) {
    throw new Error(`--attack ${unknown}: one of all, ${Object.keys(attacks).join(', ')}`);
  }
  const shapeNames = (asked.rows ?? 'normal').split(',');
  const odd = shapeNames.find((name) => !Object.hasOwn(shapes, name));
  if (odd !== undefined) throw new Error(`--rows ${odd}: one of ${Object.keys(shapes).join(', ')}`);
  const noise = asked.noise ?? 'seeded';
  if (noise !== 'seeded' && noise !== 'secure') throw new Error('--noise: seeded or secure');
  return {
    attacks: chosen,
    estimators: asked.estimator?.split(','),
    cells: shapeNames.flatMap((rows) =>
      numbers(asked.dimension, 'dimension', whole).flatMap((dimension) =>
        numbers(asked.contributors, 'contributors', whole).flatMap((contributors) =>
          numbers(asked.corruption, 'corruption', (value) =>
            value >= 0 && value < 0.5).map((corruption) =>
            ({ rows, dimension, contributors, corruption }))))),
    targets: epsilons.map((epsilon, i) => ({ epsilon, delta: deltas[i] ?? deltas[0] })),
    seeds: numbers(asked.seeds, 'seeds', whole)[0],
    parameters: Object.fromEntries((values.set ?? []).map((setting) => setting.split('=', 2))),
    noise, peer: asked.peer, out: asked.out, table: asked.table?.split(','), into: asked.into,
  };
}
