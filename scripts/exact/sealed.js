// The programs over sealed rows that `npm run check:exact` compares.
import { largerSealedPairs, sealedPairs } from '../../dist/src/audit/exact/sealed-release.js';
import { utf8 } from '../../dist/src/base/bytes.js';
import { privacyTarget } from '../../dist/src/privacy/accounting/target.js';
import { seededRandom } from '../../dist/src/random/work.js';
import { sealedProgramOf } from '../../dist/src/sealed/programs/table.js';

const facts = {
  cohort: 2000, participation: 'secret', target: privacyTarget({ epsilon: 8, delta: 1e-4 }),
};
const crowdCount = 250;
/** Larger data sets, at random. */
const largerCount = 60;

/** Numbers of two columns: 64 steps to a spread, and numbers around the middle of the range. */
const bits = 12;
const middle = 2 ** (bits - 1);
const numbers = {
  columns: 2, sealed: { bits, range: [[0, 64], [0, 64]] },
  choices: [
    [0, 0], [2 ** bits - 1, 2 ** bits - 1], [middle, middle], [middle + 64, middle],
    [middle - 300, middle],
  ],
};

/** Bins of which a contributor is in one: some, and a code that is no bin. */
const bins = (last, most) => ({
  columns: 1, sealed: { bits: 16 }, choices: [[0], [1], [last], [most]],
});

/** Each with the estimator's name, its question, and the values that contributors may share. */
export const sealedSubjects = [
  { name: 'count', parameters: { column: 0, threshold: 0.5, side: 'above' }, ...bins(1, 1) },
  { name: 'histogram', parameters: { column: 0, edges: [-1, 0, 1, 2] }, ...bins(4, 7) },
  {
    name: 'quantile',
    parameters: { column: 0, range: '-5..5', probabilities: [0.5] },
    ...bins(9, 15),
  },
  { name: 'mean', parameters: { spread: [1, 1] }, ...numbers },
  {
    name: 'robust-mean', parameters: { spread: [1, 1], shape: 'light', corruption: 0.05 },
    ...numbers,
  },
].map((subject) => ({ ...subject, title: `sealed ${subject.name}` }));

/** The input of `checkSealed` for a subject. @param most - small pairs. */
export function sealedCheckOf({ name, parameters, columns, sealed, choices }, most) {
  const question = { estimator: name, parameters, columns, sealed };
  const program = sealedProgramOf({ ...facts, dimension: columns }, question);
  const { form } = program;
  const random = seededRandom(utf8('crowd'));
  const near = () => Math.round(middle + 64 * (random.uniform() + random.uniform() - 1));
  const crowd = Array.from({ length: crowdCount }, () => Uint32Array.from(
    { length: form.count },
    () => (form.kind === 'bin' ? Math.floor(random.uniform() * 2 ** form.bits) : near()),
  ));
  const distinct = [...new Map(choices.map((choice) => [choice.join(), choice])).values()];
  const mixed = seededRandom(utf8('order'));
  const pairs = sealedPairs(distinct).map((pair) => ({ pair, place: mixed.uniform() }))
    .sort((one, other) => one.place - other.place).map(({ pair }) => pair);
  return {
    program, crowd, standsFor: facts.cohort / crowdCount, prefixes: 4, all: pairs.length,
    pairs: pairs.slice(0, most),
    larger: largerSealedPairs(form, distinct, Math.min(largerCount, Math.ceil(most / 4))),
  };
}
