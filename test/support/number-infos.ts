import fc from 'fast-check';
import type { BinInfo, NumberInfo, ThresholdSide } from '../../src/base/number-info.js';

const words = fc.string({ unit: 'binary', maxLength: 6 });
const value = fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0);
const place = fc.integer({ min: 1, max: 2 ** 20 });
const yes = fc.constant(true as const);
const some = <T extends object, K extends keyof T = never>(
  model: { [Name in keyof T]-?: fc.Arbitrary<NonNullable<T[Name]>> }, requiredKeys: K[] = [],
): fc.Arbitrary<T> => fc.record(model, { requiredKeys }) as fc.Arbitrary<T>;

const side: fc.Arbitrary<ThresholdSide> = fc.oneof(
  some<{ atLeast: number; is?: boolean }, 'atLeast'>(
    { atLeast: value, is: fc.boolean() }, ['atLeast']),
  some<{ below: number; is?: boolean }, 'below'>({ below: value, is: fc.boolean() }, ['below']),
);
const bin = some<BinInfo>({ from: value, below: value, name: words, found: place });

const ofKind = <K extends NumberInfo['kind']>(
  kind: K, model: Record<string, fc.Arbitrary<unknown>>, needed: readonly string[] = [],
): fc.Arbitrary<NumberInfo> => fc.record(
  { kind: fc.constant(kind), unit: words, least: value, most: value, ...model },
  { requiredKeys: ['kind', ...needed] as never[] },
) as unknown as fc.Arbitrary<NumberInfo>;

/** A description of each kind, with and without what it may state. */
export const numberInfo: fc.Arbitrary<NumberInfo> = fc.oneof(
  ofKind('count', { column: words, side }),
  ofKind('groups', {}),
  ofKind('share', { column: words, side }, ['column', 'side']),
  ofKind('bin', { column: words, bin }, ['column', 'bin']),
  ofKind('bin-start', { column: words, bin }, ['column', 'bin']),
  ofKind('below', { column: words, edge: value }, ['column']),
  ofKind('quantile', { column: words, probability: value }, ['column', 'probability']),
  ofKind('total', { column: words, each: fc.tuple(value, value), isFound: yes }, ['column']),
  ofKind('ratio', { column: words, per: words }, ['column', 'per']),
  ofKind('mean', { column: words, component: place }, ['column']),
  ofKind('variance', { column: words, component: place }, ['column']),
  ofKind('median', { column: words }, ['column']),
  ofKind('covariance', { column: words, other: words, component: place }, ['column', 'other']),
  ofKind('deviation', { column: words, component: place }, ['column', 'component']),
  ofKind('weight', { component: place }, ['component']),
  ofKind('projector', { column: words, other: words }, ['column', 'other']),
  ofKind('rank', {}),
  ofKind('moment', { columns: fc.array(words, { minLength: 3, maxLength: 4 }) }, ['columns']),
  ofKind('skewness', { column: words, direction: place }),
  ofKind('excess-kurtosis', { column: words, direction: place }),
  ofKind('choice', { among: fc.array(fc.oneof(words, value)) }, ['among']),
  ofKind('other', { column: words, part: words, place, of: place }, ['place', 'of']),
);

/** A description of so many numbers. */
export const numbersOf = (entries: number): fc.Arbitrary<readonly NumberInfo[]> =>
  fc.array(numberInfo, { minLength: entries, maxLength: entries });
