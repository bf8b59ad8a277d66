import type { Outcome, ValueOutcome } from '../../src/base/outcome.js';
import type { Form, RelationName } from './forms.js';
import {
  answered, factorsOf, moved, movedAnswer, planned, sampleOf, type Asked, type Move,
} from './run.js';

/** What came of a relation: null where it holds, else what was seen. */
export type Verdict = string | null;

/** Answers may differ by this many half widths of both intervals: 4 standard deviations of each. */
const halvesAllowed = 1.5;

/**
 * How far the numbers of an answer may be off: half of its interval; where there is none, twice
 * what its plan expects, in the power of the unit that each number has.
 */
function halvesOf(
  form: Form, asked: Asked, { estimate, interval95 }: ValueOutcome,
): readonly number[] {
  if (interval95 !== undefined) {
    return estimate.map((value, i) =>
      Math.max(interval95.high[i]! - value, value - interval95.low[i]!));
  }
  const plan = planned(form, { ...asked, cohort: Math.min(asked.cohort, asked.rows.length) });
  if (typeof plan === 'string') throw new Error(plan);
  const { total } = plan.expectedError(0);
  return form.terms.map(({ powers }) =>
    2 * total * asked.unit ** powers.reduce((sum, power) => sum + power, 0));
}

const shortened = (value: number): string => value.toPrecision(6);

/** How near each number of an answer is to the one that is due. @param halves - allowed ones. */
function nearness(
  got: readonly number[], due: readonly number[], halves: readonly number[], rounding: number,
): Verdict {
  let worst = 0;
  let at = -1;
  got.forEach((value, i) => {
    const off = Math.abs(value - due[i]!);
    const allowed = halvesAllowed * halves[i]! + rounding * Math.abs(due[i]!) + 1e-290;
    const ratio = off === 0 ? 0 : off / allowed;
    if (!(ratio <= worst)) [worst, at] = [ratio, i];
  });
  if (worst <= 1) return null;
  return `number ${at} is ${shortened(got[at]!)} where ${shortened(due[at]!)} is due, `
    + `${worst.toPrecision(3)} times what its interval allows`;
}

const reasonOf = (outcome: Outcome | string): string => {
  if (typeof outcome === 'string') return outcome;
  return outcome.kind === 'refused' ? `refused: ${outcome.reason}`
    : `answered ${(outcome.findings ?? []).map(({ reason }) => reason).sort().join(' ')}`;
};

const isValue = (outcome: Outcome | string): outcome is ValueOutcome =>
  typeof outcome !== 'string' && outcome.kind === 'value';

/** Both answered, or both did not, for the same reason. */
function kinds(before: Outcome | string, after: Outcome | string): Verdict {
  if (isValue(before) && isValue(after)) return null;
  const [one, other] = [reasonOf(before), reasonOf(after)];
  return !isValue(before) && !isValue(after) && one === other ? null : `${one}, then ${other}`;
}

/** The answer of moved rows is the moved answer, to the bit: noise, interval and findings too. */
async function sameBits(form: Form, move: Move, base: Outcome | string): Promise<Verdict> {
  const after = await answered(form, moved(form, sampleOf(form), move));
  const differs = kinds(base, after);
  if (differs !== null || !isValue(base) || !isValue(after)) return differs;
  const factors = factorsOf(form, move);
  const lists = [
    ['the estimate', base.estimate, after.estimate],
    ['the lower end', base.interval95?.low ?? [], after.interval95?.low ?? []],
    ['the upper end', base.interval95?.high ?? [], after.interval95?.high ?? []],
  ] as const;
  for (const [what, one, other] of lists) {
    const at = one.findIndex((value, i) => !Object.is(value * factors[i]! + 0, other[i]! + 0));
    if (at >= 0) {
      return `${what} ${at} is ${other[at]} where ${one[at]! * factors[at]!} is due`;
    }
  }
  return reasonOf(base) === reasonOf(after) ? null : `${reasonOf(base)}, then ${reasonOf(after)}`;
}

/** The answer of moved rows is near the moved answer, and its interval as wide. */
async function near(
  form: Form, move: Move, base: Outcome | string, asked: Asked = sampleOf(form),
): Promise<Verdict> {
  const movedAsked = moved(form, asked, move);
  const after = await answered(form, movedAsked);
  const differs = kinds(base, after);
  if (differs !== null || !isValue(base) || !isValue(after)) return differs;
  const due = movedAnswer(form, base.estimate, move);
  const factors = factorsOf(form, move);
  const [one, other] = [
    halvesOf(form, asked, base).map((half, i) => half * Math.abs(factors[i]!)),
    after.interval95 === undefined && after.uncertainty.kind !== 'gaussian'
      ? after.estimate.map(() => 0) : halvesOf(form, movedAsked, after),
  ];
  // Rows far from zero are rounded.
  const verdict = nearness(
    after.estimate, due, one.map((half, i) => half + other[i]!), 2 ** -52,
  );
  if (verdict !== null) return verdict;
  const wide = one.findIndex((half, i) => other[i]! > 0
    && (half > 8 * other[i]! || other[i]! > 8 * half) && half < Infinity);
  return wide < 0 || after.interval95 === undefined ? null
    : `interval ${wide} is ${(other[wide]! / one[wide]!).toPrecision(3)} times as wide`;
}

const moveOf = (form: Form, factor: number, shift = 0): Move => ({
  factors: new Array<number>(form.dimension).fill(factor),
  shifts: new Array<number>(form.dimension).fill(shift),
});

const first = async (verdicts: readonly (() => Promise<Verdict>)[]): Promise<Verdict> => {
  for (const verdict of verdicts) {
    const found = await verdict();
    if (found !== null) return found;
  }
  return null;
};

/** The powers of ten of the suite, and of its small part. */
export interface Extent {
  readonly powers: readonly number[];
}

type Relation = (form: Form, base: Outcome | string, extent: Extent) => Promise<Verdict>;

const powerOfTwo = (power: number): number => 2 ** Math.round(power * Math.log2(10));

const atEach = (
  { powers }: Extent, check: (power: number) => Promise<Verdict>,
): Promise<Verdict> => first(powers.map((power) => async () => {
  const found = await check(power);
  return found === null ? null : `at 10^${power}: ${found}`;
}));

const shiftsBy = (
  form: Form, base: Outcome | string, shifts: readonly number[],
): Promise<Verdict> => first(shifts.map((shift) => async () => {
  const found = await near(form, moveOf(form, 1, shift), base);
  return found === null ? null : `by ${shift}: ${found}`;
}));

/** The rows with one column made by `value`, which may look at the old one. */
const withColumn = (asked: Asked, value: (old: number, i: number) => number): Asked => ({
  ...asked,
  rows: asked.rows.map((row, i) =>
    row.map((old, j) => (j === row.length - 1 ? value(old, i) : old))),
});

/** The answer is near the exact one, or refused for a stated reason. */
async function nearExact(form: Form, asked: Asked, isRefusalRight: boolean): Promise<Verdict> {
  const outcome = await answered(form, asked);
  if (!isValue(outcome)) return isRefusalRight ? null : reasonOf(outcome);
  const due = form.exact(asked.rows);
  return nearness(outcome.estimate, due, halvesOf(form, asked, outcome), 1e-12);
}

/**
 * A column of one value that may be beyond the public bounds: the answer is right, or refused, or
 * the release says that values are beyond, or its interval is open.
 */
async function nearOrTold(form: Form, constant: number): Promise<Verdict> {
  const asked = withColumn(sampleOf(form), () => constant);
  const outcome = await answered(form, asked);
  const isTold = isValue(outcome)
    && ((outcome.findings ?? []).some(({ reason }) => reason === 'values-clipped')
      || outcome.interval95?.high.at(-1) === Infinity);
  return isTold ? null : nearExact(form, asked, true);
}

/** What must hold whatever the data are. Each looks at one form; `base` is the sample's answer. */
export const relations: Readonly<Record<RelationName, Relation>> = {
  'all columns times a power of two': (form, base, extent) => atEach(extent, (power) =>
    sameBits(form, moveOf(form, powerOfTwo(power)), base)),
  'all columns times a power of ten': (form, base, extent) => atEach(extent, (power) =>
    near(form, moveOf(form, 10 ** power), base)),
  'the first column times a power of two': (form, base, extent) => atEach(extent, (power) => {
    const factors = moveOf(form, 1).factors.map((one, j) => (j === 0 ? powerOfTwo(power) : one));
    return near(form, { factors, shifts: factors.map(() => 0) }, base);
  }),
  'shifted by thousands and millions': (form, base) => shiftsBy(form, base, [1e3, -1e6]),
  // A spread of a few thousand doubles is left.
  'shifted by up to 1e15': async (form) => {
    const wide = sampleOf(form);
    const factor = 2 ** 10;
    const spread = moved(form, wide, moveOf(form, factor));
    const base = await answered(form, spread);
    return first([1e12, -1e15].map((shift) => async () => {
      const whole = { ...spread, rows: spread.rows.map((row) => row.map(Math.round)) };
      const found = await near({ ...form, parameters: spread.parameters }, moveOf(form, 1, shift),
        base, whole);
      return found === null ? null : `by ${shift}: ${found}`;
    }));
  },
  'rows in another order': async (form, base) => {
    const asked = sampleOf(form);
    const order = asked.rows.map((_, i) => i).sort((one, other) =>
      asked.hashes[one]![0]! - asked.hashes[other]![0]! || other - one);
    const after = await answered(form, {
      ...asked, rows: order.map((i) => asked.rows[i]!), hashes: order.map((i) => asked.hashes[i]!),
    });
    return JSON.stringify(after) === JSON.stringify(base) ? null : 'another answer';
  },
  'columns in another order': async (form, base) => {
    const asked = sampleOf(form);
    const parameters = Object.fromEntries(Object.entries(form.parameters).map(([name, value]) =>
      [name, Array.isArray(value) && value.length === form.dimension
        ? (value as unknown[]).toReversed() : value]));
    const turned = {
      ...asked, parameters, rows: asked.rows.map((row) => Float64Array.from(row).reverse()),
    };
    const after = await answered(form, turned);
    const differs = kinds(base, after);
    if (differs !== null || !isValue(base) || !isValue(after)) return differs;
    const keyOf = (i: number, isTurned: boolean): string => {
      const { powers, signs, place, of = '' } = form.terms[i]!;
      const list = (numbers: readonly number[]): string =>
        (isTurned ? [...numbers].reverse() : numbers).join();
      return [list(powers), list(signs), place !== null, of].join(' ');
    };
    const due = base.estimate.map((_, i) => base.estimate[
      form.terms.findIndex((__, k) => keyOf(k, true) === keyOf(i, false))]!);
    const halves = halvesOf(form, asked, base);
    const other = halvesOf(form, turned, after);
    return nearness(after.estimate, due, other.map((half) => half + Math.max(...halves)), 0);
  },
  negated: (form, base) => near(form, moveOf(form, -1), base),
  'every row twice': async (form, base) => {
    const asked = sampleOf(form);
    const more = sampleOf({ ...form, label: `${form.label} again` }).hashes;
    const twice = {
      ...asked, rows: [...asked.rows, ...asked.rows], hashes: [...asked.hashes, ...more],
      cohort: 2 * form.cohort,
    };
    const after = await answered(form, twice);
    const differs = kinds(base, after);
    if (differs !== null || !isValue(base) || !isValue(after)) return differs;
    const exact = form.exact(asked.rows);
    const grown = form.exact(twice.rows);
    const due = base.estimate.map((value, i) =>
      (grown[i]! === 2 * exact[i]! ? 2 * value : value));
    const halves = halvesOf(form, asked, base).map((half, i) =>
      (grown[i]! === 2 * exact[i]! ? 2 * half : half));
    const other = halvesOf(form, twice, after);
    return nearness(after.estimate, due, halves.map((half, i) => half + other[i]!), 0);
  },
  'zeros with a sign': async (form) => {
    const isZero = (_: number, i: number): boolean => i % 4 === 0;
    const asked = sampleOf(form);
    const [plus, minus] = await Promise.all([0, -0].map((zero) => answered(form, withColumn(asked,
      (old, i) => (isZero(old, i) ? zero : old)))));
    // JSON has one zero, so an answer may keep the sign of its own.
    return JSON.stringify(plus) === JSON.stringify(minus) ? null
      : `${reasonOf(plus!)}, then ${reasonOf(minus!)}, with other numbers`;
  },
  'a constant column': (form) => first([0, 1].map((constant) => () =>
    nearExact(form, withColumn(sampleOf(form), () => constant * form.spread), true))),
  'a constant far away': (form) => nearOrTold(form, 1e6 * form.spread),
  'columns of 0 and 1': (form) =>
    nearExact(form, withColumn(sampleOf(form), (_, i) => i % 2), true),
  'planned for a tenth': (form) => nearExact(form, {
    ...sampleOf(form), cohort: Math.round(form.cohort / 10),
  }, true),
  'planned for ten times as many': (form) => nearExact(form, {
    ...sampleOf(form), cohort: 10 * form.cohort,
  }, true),
  'the exact answer at epsilon 100': (form) => nearExact(form, {
    ...sampleOf(form), epsilon: 100,
  }, false),
};

/** The answer of the sample itself, which relations compare with. */
export const baseOf = (form: Form): Promise<Outcome | string> => answered(form, sampleOf(form));
