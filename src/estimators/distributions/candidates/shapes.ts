import { InvalidParameterError } from '../../../base/errors.js';

/** A distribution of one number as a list of hypotheses writes it. */
export type LineShape =
  | { readonly kind: 'normal'; readonly mean: number; readonly deviation: number }
  | { readonly kind: 'uniform'; readonly low: number; readonly high: number }
  | { readonly kind: 'laplace'; readonly centre: number; readonly scale: number }
  | {
    readonly kind: 'student'; readonly centre: number; readonly scale: number;
    readonly freedom: number;
  }
  | {
    readonly kind: 'histogram'; readonly edges: readonly number[];
    readonly masses: readonly number[];
  }
  | {
    readonly kind: 'mixture'; readonly weights: readonly number[];
    readonly parts: readonly LineShape[];
  };

/**
 * A distribution of several columns: independent ones, a normal with a covariance, or a mixture of
 * such.
 */
export type SpaceShape =
  | { readonly kind: 'columns'; readonly columns: readonly LineShape[] }
  | {
    readonly kind: 'normal'; readonly mean: readonly number[];
    readonly covariance: readonly (readonly number[])[];
  }
  | {
    readonly kind: 'mixture'; readonly weights: readonly number[];
    readonly parts: readonly SpaceShape[];
  };

const partsMaximum = 32;
const binsMaximum = 256;
const magnitude = 1e100;

/**
 * Reads one hypothesis of one column. @throws InvalidParameterError naming its place in the list,
 * and the rule.
 */
export function readLineShape(value: unknown, path: string): LineShape {
  const { kind, members } = named(
    value, path, 'normal, uniform, laplace, student, histogram or mixture',
  );
  const place = `${path}.${kind}`;
  switch (kind) {
    case 'normal':
      return {
        kind, mean: number(members, 'mean', place),
        deviation: positive(members, 'deviation', place),
      };
    case 'uniform': {
      const low = number(members, 'low', place);
      const high = number(members, 'high', place);
      if (!(low < high)) throw refused(place, 'low is to be below high');
      return { kind, low, high };
    }
    case 'laplace':
      return {
        kind, centre: number(members, 'centre', place), scale: positive(members, 'scale', place),
      };
    case 'student': {
      const freedom = number(members, 'freedom', place);
      if (!(freedom >= 1 && freedom <= 1e6)) throw refused(place, 'freedom is to be from 1 to 1e6');
      return {
        kind, freedom, centre: number(members, 'centre', place),
        scale: positive(members, 'scale', place),
      };
    }
    case 'histogram': {
      const edges = numbers(members, 'edges', place, binsMaximum + 1);
      const masses = sharesFrom(members, 'masses', place, binsMaximum);
      if (edges.length !== masses.length + 1
          || edges.some((edge, i) => i > 0 && !(edge > edges[i - 1]!))) {
        throw refused(place, 'edges are to ascend, and to be one more than masses');
      }
      return { kind, edges, masses };
    }
    case 'mixture':
      return { kind, ...partsFrom(members, place, readLineShape) };
    default:
      throw refused(
        path, `${kind} is none of normal, uniform, laplace, student, histogram and mixture`,
      );
  }
}

/**
 * Reads one hypothesis of several columns. @throws InvalidParameterError naming its place in the
 * list, and the rule.
 */
export function readSpaceShape(value: unknown, path: string, dimension: number): SpaceShape {
  const { kind, members } = named(value, path, 'columns, normal or mixture');
  const place = `${path}.${kind}`;
  if (kind === 'columns') {
    if (!Array.isArray(members) || members.length !== dimension) {
      throw refused(place, `a list of ${dimension} is needed`);
    }
    return { kind, columns: members.map((one: unknown, j) =>
      readLineShape(one, `${place}[${j}]`)) };
  }
  if (kind === 'mixture') {
    return { kind, ...partsFrom(members, place, (one, where) =>
      readSpaceShape(one, where, dimension)) };
  }
  if (kind !== 'normal') throw refused(path, `${kind} is none of columns, normal and mixture`);
  const mean = numbers(members, 'mean', place, dimension);
  const rows = member(members, 'covariance', place);
  if (mean.length !== dimension || !Array.isArray(rows) || rows.length !== dimension) {
    throw refused(
      place, `mean needs ${dimension} numbers and covariance ${dimension} rows of as many`,
    );
  }
  const covariance = rows.map((_: unknown, j) => numbers(rows, String(j), place, dimension));
  const isSquare = covariance.every((row) => row.length === dimension);
  if (!isSquare
      || covariance.some((row, i) => row.some((entry, j) => entry !== covariance[j]![i]))) {
    throw refused(place, 'covariance is to be square and symmetric');
  }
  return { kind, mean, covariance };
}

interface Named {
  readonly kind: string;
  readonly members: unknown;
}

function named(value: unknown, path: string, kinds: string): Named {
  const entries = typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
    : [];
  if (entries.length !== 1) throw refused(path, `an object with one member is needed: ${kinds}`);
  return { kind: entries[0]![0], members: entries[0]![1] };
}

function member(members: unknown, name: string, path: string): unknown {
  const content = typeof members === 'object' && members !== null
    ? new Map(Object.entries(members))
    : new Map();
  const value: unknown = content.get(name);
  if (value === undefined) throw refused(path, `${name} is missing`);
  return value;
}

function number(members: unknown, name: string, path: string): number {
  const value = member(members, name, path);
  if (typeof value !== 'number' || !(Math.abs(value) <= magnitude)) {
    throw refused(path, `${name} is to be a number within ${magnitude}`);
  }
  return value;
}

function positive(members: unknown, name: string, path: string): number {
  const value = number(members, name, path);
  if (!(value >= 1 / magnitude)) throw refused(path, `${name} is to be above 0`);
  return value;
}

function numbers(
  members: unknown, name: string, path: string, lengthMaximum: number,
): readonly number[] {
  const list = member(members, name, path);
  if (!Array.isArray(list) || list.length === 0 || list.length > lengthMaximum) {
    throw refused(path, `${name} is to be a list of 1 to ${lengthMaximum} numbers`);
  }
  return list.map((_: unknown, i) => number(list, String(i), `${path}.${name}`));
}

function sharesFrom(
  members: unknown, name: string, path: string, lengthMaximum: number,
): readonly number[] {
  const list = numbers(members, name, path, lengthMaximum);
  const total = list.reduce((sum, share) => sum + share, 0);
  if (!list.every((share) => share >= 0) || !(Math.abs(total - 1) <= 1e-6)) {
    throw refused(path, `${name} are to be at least 0 and to add up to 1`);
  }
  return list;
}

function partsFrom<Shape>(
  members: unknown, path: string, read: (value: unknown, path: string) => Shape,
): { readonly weights: readonly number[]; readonly parts: readonly Shape[] } {
  const weights = sharesFrom(members, 'weights', path, partsMaximum);
  const parts = member(members, 'parts', path);
  if (!Array.isArray(parts) || parts.length !== weights.length) {
    throw refused(path, 'parts are to be a list as long as weights');
  }
  return { weights, parts: parts.map((part: unknown, k) => read(part, `${path}.parts[${k}]`)) };
}

function refused(path: string, rule: string): InvalidParameterError {
  return new InvalidParameterError(
    `parameters.${path}: ${rule}`, { path: `parameters.${path}`, rule },
  );
}
