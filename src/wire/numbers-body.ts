import { canonicalJson, type JsonValue } from '../base/canonical-json.js';
import type { BinInfo, NumberInfo } from '../base/number-info.js';
import type { ValueOutcome } from '../base/outcome.js';
import type { keelson as read } from './generated/other-reader.js';
import type { keelson as sent } from './generated/other-writer.js';
import { malformed } from './reader.js';

/**
 * The description of numbers in the bytes of a release: section 7 of docs/reference/protocol.md.
 * Fields that successive numbers share are written once, so a histogram of 1,000 bins takes little
 * more than its edges.
 */

/** The fields that a description of any kind of number may state. */
export interface Stated {
  readonly kind?: string | undefined;
  readonly column?: string | undefined;
  readonly other?: string | undefined;
  readonly third?: string | undefined;
  readonly fourth?: string | undefined;
  readonly unit?: string | undefined;
  readonly text?: string | undefined;
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly probability?: number | undefined;
  readonly place?: number | undefined;
  readonly of?: number | undefined;
  readonly flag?: number | undefined;
}

const textFields = ['kind', 'column', 'other', 'third', 'fourth', 'unit', 'text'] as const;
const valueFields = ['least', 'most', 'start', 'end', 'probability'] as const;
const wholeFields = ['place', 'of', 'flag'] as const;

const [yes, no] = [1, 2];

/** The different texts, or values, of a release: places are from 1, and 0 is none. */
export class Places<T> {
  readonly all: T[];
  readonly #places: Map<T, number>;

  constructor(given: readonly T[] = []) {
    this.all = [...given];
    this.#places = new Map(given.map((each, i) => [each, i + 1]));
  }

  of(each: T | undefined): number {
    if (each === undefined) return 0;
    const known = this.#places.get(each);
    if (known !== undefined) return known;
    this.#places.set(each, this.all.push(each));
    return this.all.length;
  }
}

/** How many numbers a value describes: all, or those of one key of a split answer. */
export function describedEntries({ estimate, groups }: ValueOutcome): number {
  if (groups === undefined) return estimate.length;
  return groups.length === 0 ? 0 : estimate.length / groups.length;
}

/**
 * Null for a value that describes nothing: our server's all do.
 * @throws WireError('malformed') unless there is a description of each number, or of none.
 */
export function numbersToWire(
  value: ValueOutcome, texts: Places<string>,
): sent.v1.Numbers.$Properties | null {
  const { numbers } = value;
  if (numbers === undefined) return null;
  checkCount(numbers.length, describedEntries(value));
  if (numbers.length === 0) return null;
  const stated = numbers.map(statedBy);
  const values = new Places<number>();
  const lists = {
    ...listsOf(textFields, (field) => stated.map((each) => texts.of(each[field]))),
    ...listsOf(valueFields, (field) => stated.map((each) => values.of(each[field]))),
    ...listsOf(wholeFields, (field) => stated.map((each) => each[field] ?? 0)),
  };
  return { ...lists, values: values.all };
}

function listsOf<Field extends string>(
  fields: readonly Field[], placesOf: (field: Field) => readonly number[],
): Record<Field, number[]> {
  return Object.fromEntries(fields.map((field) => [field, runsOf(placesOf(field))])) as
    Record<Field, number[]>;
}

/**
 * Empty where the value describes nothing, as those of servers before the description do. The
 * signature covers its absence.
 * @param texts - the columns of the release, then its texts.
 * @throws WireError('malformed') unless there is a description of each number, or of none.
 */
export function numbersFromWire(
  numbers: read.v1.Numbers.$Shape | null, entries: number, texts: readonly string[],
): readonly NumberInfo[] {
  if (numbers === null) return [];
  const values = numbers.values ?? [];
  if (!values.every(Number.isFinite)) throw malformed('a value of a description is not finite');
  const stated = Array.from({ length: entries }, (): Record<string, unknown> => ({}));
  const take = (
    fields: readonly (keyof Stated & keyof typeof numbers)[],
    dictionary: readonly (string | number)[] | null,
  ): void => {
    for (const field of fields) {
      placesIn((numbers[field] ?? []), entries, dictionary?.length, field)
        .forEach((place, i) => {
          if (place > 0) stated[i]![field] = dictionary === null ? place : dictionary[place - 1];
        });
    }
  };
  take(textFields, texts);
  take(valueFields, values);
  take(wholeFields, null);
  const described = stated.filter(({ kind }) => kind !== undefined).length;
  checkCount(described, entries);
  return stated.map((each, i) => infoOf(each, i, entries));
}

function checkCount(described: number, entries: number): void {
  if (described !== entries) {
    throw malformed(`it describes ${described} numbers, and the answer has ${entries}`
      + ' (of each group, if it is split)');
  }
}

/** Runs of equal places, or of places that grow by 1. Empty where all are 0. */
function runsOf(places: readonly number[]): number[] {
  if (places.every((place) => place === 0)) return [];
  const runs: number[] = [];
  for (let start = 0; start < places.length;) {
    const first = places[start]!;
    const step = first > 0 && places[start + 1] === first + 1 ? 1 : 0;
    let end = start + 1;
    while (places[end] === first + step * (end - start)) end++;
    runs.push(first, 2 * (end - start) + step);
    start = end;
  }
  return runs;
}

/** @throws WireError('malformed') for runs of another length, or a place that is not there. */
function placesIn(
  runs: readonly number[], length: number, placeMax: number | undefined, field: string,
): readonly number[] {
  const places: number[] = [];
  for (let run = 0; run < runs.length; run += 2) {
    const [first, code = 0] = [runs[run]!, runs[run + 1]];
    const [count, step] = [Math.floor(code / 2), code % 2];
    const last = first + step * (count - 1);
    if (count === 0 || places.length + count > length) {
      throw malformed(`the runs of ${field} are not ${length} numbers`);
    }
    if ((placeMax !== undefined && last > placeMax) || (first === 0 && step === 1)) {
      throw malformed(`${field} of a number is stated at place ${last}, where nothing is`);
    }
    for (let i = 0; i < count; i++) places.push(first + step * i);
  }
  if (runs.length > 0 && places.length < length) {
    throw malformed(`the runs of ${field} are not ${length} numbers`);
  }
  return places;
}

/**
 * The members that a description of each kind may have. After a colon: the field that states a
 * member of another name. `!`: the kind needs the member.
 */
const forms: Readonly<Record<NumberInfo['kind'], string>> = {
  'count': 'column side',
  'groups': '',
  'share': 'column! side!',
  'bin': 'column! bin!',
  'bin-start': 'column! bin!',
  'below': 'column! edge:end',
  'quantile': 'column! probability!',
  'total': 'column! each isFound',
  'ratio': 'column! per:other!',
  'mean': 'column! component:place',
  'median': 'column!',
  'variance': 'column! component:place',
  'covariance': 'column! other! component:place',
  'deviation': 'column! component:place!',
  'weight': 'component:place!',
  'projector': 'column! other!',
  'rank': '',
  'moment': 'columns!',
  'skewness': 'column direction:place',
  'excess-kurtosis': 'column direction:place',
  'choice': 'among!',
  'other': 'column part:text place! of!',
};

/** A member that takes several fields, or one in another form. */
interface Compound {
  // The kind of a description determines what a member holds.
  readonly state: (value: never) => Stated;
  readonly read: (stated: Stated) => unknown;
}

const compounds: Readonly<Record<string, Compound>> = {
  side: {
    state: (side: { readonly atLeast?: number; readonly below?: number; readonly is?: boolean }) =>
      ({
        start: side.atLeast, end: side.below,
        flag: side.is === undefined ? undefined : side.is ? yes : no,
      }),
    read({ start, end, flag }) {
      const isSide = flag === undefined ? {} : { is: flag === yes };
      if (end !== undefined) return { below: end, ...isSide };
      return start === undefined ? undefined : { atLeast: start, ...isSide };
    },
  },
  bin: {
    state: ({ from, below, name, found }: BinInfo) =>
      ({ start: from, end: below, text: name, place: found }),
    read: ({ start, end, text, place }) => ({
      ...(start !== undefined && { from: start }), ...(end !== undefined && { below: end }),
      ...(text !== undefined && { name: text }), ...(place !== undefined && { found: place }),
    }),
  },
  each: {
    state: ([start, end]: readonly [number, number]) => ({ start, end }),
    read: ({ start, end }) =>
      (start === undefined || end === undefined ? undefined : [start, end]),
  },
  isFound: { state: () => ({ flag: yes }), read: ({ flag }) => (flag === yes ? true : undefined) },
  columns: {
    state: ([column, other, third, fourth]: readonly string[]) =>
      ({ column, other, third, fourth }),
    read: ({ column, other, third, fourth }) => (third === undefined ? undefined
      : [column, other, third, fourth].filter((name) => name !== undefined)),
  },
  among: {
    state: (among: readonly JsonValue[]) => ({ text: canonicalJson(among) }),
    read: ({ text }) => listIn(text),
  },
};

function listIn(text: string | undefined): readonly unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text ?? '');
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

interface Form {
  readonly member: string;
  readonly field: keyof Stated;
  readonly isNeeded: boolean;
}

const formsOf: ReadonlyMap<string, readonly Form[]> = new Map(
  Object.entries(forms).map(([kind, text]) => [kind, text.split(' ').filter(Boolean).map((word) => {
    const [member, field = member] = word.replace('!', '').split(':') as [string, string?];
    return { member, field: field as keyof Stated, isNeeded: word.endsWith('!') };
  })]));

/** The statements of a description, in the fields of the wire. */
export function statedBy(number: NumberInfo): Stated {
  const { kind, unit, least, most } = number;
  const members = number as unknown as Readonly<Record<string, never>>;
  return Object.assign(
    { kind, unit, least, most },
    ...formsOf.get(kind)!.filter(({ member }) => members[member] !== undefined)
      .map(({ member, field }) =>
        compounds[member]?.state(members[member]!) ?? { [field]: members[member] }),
  ) as Stated;
}

/**
 * The description that the fields state. A kind that this version does not know, or a known one
 * that lacks what it needs, is `other`: a newer server may know more.
 */
function infoOf(stated: Stated, i: number, of: number): NumberInfo {
  const { kind = '', column } = stated;
  const info: Record<string, unknown> = { kind };
  const known = formsOf.get(kind);
  let isKnown = known !== undefined;
  for (const { member, field, isNeeded } of known ?? []) {
    const value = (compounds[member] === undefined ? stated[field]
      : compounds[member].read(stated));
    if (value !== undefined) info[member] = value;
    else if (isNeeded) isKnown = false;
  }
  const own: Record<string, unknown> = isKnown ? info
    : { kind: 'other', place: i + 1, of, ...(column !== undefined && { column }) };
  for (const field of ['unit', 'least', 'most'] as const) {
    if (stated[field] !== undefined) own[field] = stated[field];
  }
  return own as unknown as NumberInfo;
}

/**
 * Why a stated description is not what a reader works out from the facts; null where nothing
 * contradicts it. One of the two may know more than the other: what only one of them states, and
 * numbers that the reader cannot explain, contradict nothing.
 */
export function contradiction(
  stated: readonly NumberInfo[], computed: readonly NumberInfo[],
): string | null {
  for (const [i, number] of stated.entries()) {
    const own = computed[i];
    if (own === undefined || own.kind === 'other') continue;
    const [theirs, ours] = [statedBy(number), statedBy(own)];
    const compared = number.kind === 'other' ? sharedFields : allFields;
    const field = compared.find((each) => theirs[each] !== undefined && ours[each] !== undefined
      && theirs[each] !== ours[each]);
    if (field !== undefined) {
      return `it states ${String(theirs[field])} as the ${field} of number ${i + 1}, which is `
        + String(ours[field]);
    }
  }
  return null;
}

const allFields = [...textFields, ...valueFields, ...wholeFields];
/** Fields that mean the same of every kind. */
const sharedFields = ['column', 'unit', 'least', 'most'] as const;
