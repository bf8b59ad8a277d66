/**
 * Names from before the first release, and what replaces them (docs/internals/names.md). An old
 * name is refused, and the refusal gives the new one. `keelson doctor` rewrites study files with
 * these tables. Stored releases are signed and stay as they are, so the old names in them are read.
 */

/** The replacement of an old name. */
export interface Renamed {
  /** Absent: nothing replaces it, and `why` says what to do. */
  readonly now?: string;
  /** Parameters to write beside the new name. */
  readonly with?: Readonly<Record<string, string>>;
  /** After "is now NAME", or the remedy where there is no new name. */
  readonly why?: string;
}

type Table = Readonly<Record<string, Renamed>>;

export const oldEstimators: Table = {
  'stable-mean-dual': { now: 'stable-mean' },
  'spectral-filter': { now: 'prime', with: { directions: 'one' } },
  'heavy-tailed-1d': { now: 'heavy-tailed', why: 'with one column' },
  'heavy-tailed-pure': { now: 'heavy-tailed', why: 'with a delta of 0 for pure privacy' },
};

/** Old parameters of every estimator that has the new name. */
export const oldParameters: Table = {
  scale: { now: 'spread' },
  'centre-share': { now: 'centre-part' },
  'final-share': { now: 'final-part' },
  'range-share': { now: 'range-part' },
  'test-share': { now: 'test-part' },
  low: { now: 'range', why: '(low..high)' },
  high: { now: 'range', why: '(low..high)' },
  groups: { now: 'subsamples' },
  cohorts: { now: 'arms' },
};

/** Old parameters that one estimator no longer needs. They take precedence over those of all. */
export const oldParametersOf: Readonly<Record<string, Table>> = {
  sum: {
    'cap-share': { why: 'the cap that leaves the least uncertain is found' },
    'cap-quantile': { why: 'the cap that leaves the least uncertain is found' },
  },
  quantile: { resolution: { why: 'answers have 12 digits' } },
  'heavy-tailed': {
    privacy: { why: 'a delta of 0 asks for pure privacy' },
    column: { why: 'give one column' },
  },
  covariance: {
    preconditioner: { why: 'subsample-covariance has what unbounded was, and bounded is all' },
    local: { why: 'subsample-covariance has it' },
    mask: { why: 'subsample-covariance has it' },
    groups: { why: 'subsample-covariance has it, as subsamples' },
    corruption: { why: 'subsample-covariance has it' },
  },
};

/** Choices of a parameter, by its new name. */
export const oldChoices: Readonly<Record<string, Table>> = {
  shape: { normal: { now: 'light' } },
  centre: { 'group-means': { now: 'subsample-means' } },
  of: { keys: { now: 'groups' } },
};

/** Words of a study file, by the path of their key. */
export const oldStudyWords: Readonly<Record<string, Table>> = {
  'questions.by.answer': { keys: { now: 'groups' } },
};

/** Keys of a study file, by their path without names of questions. */
export const oldStudyKeys: Table = {
  'questions.by.keysMax': { now: 'questions.by.groupsMax' },
  'questions.by.keys': { now: 'questions.by.groups' },
  'questions.share': { now: 'questions.part' },
  'admission.keys': { now: 'admission.contributorKeys' },
  'admission.rate.keys': { now: 'admission.rate.contributorKeys' },
};

/** Findings and refusals in releases of before. */
export const oldReasons: Readonly<Record<string, string>> = {
  'crowd-apart': 'cluster-apart',
  'crowds-too-many': 'clusters-too-many',
  'wider-than-scale': 'wider-than-spread',
  'keys-cut': 'groups-cut',
  'scale-not-found': 'spread-not-found',
  'groups-disagree': 'subsamples-disagree',
};

/** Kinds of events in ledgers and releases of before. */
export const oldEvents: Readonly<Record<string, string>> = {
  'key-histogram': 'group-histogram',
  'key-sums': 'group-sums',
  'key-weights': 'group-weights',
};

/** The present name of what a stored release may have under an old one. */
export function storedNow(table: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(table, name) ? table[name]! : name;
}

/** A refusal's text about an old name; undefined if it is none, or its new name is unknown here. */
function nowOf(
  table: Table | undefined, name: string, known?: readonly string[],
): string | undefined {
  const renamed = table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
  if (renamed === undefined) return undefined;
  const { now, why } = renamed;
  if (now === undefined) return `${name} is gone: ${why}`;
  if (known !== undefined && !known.includes(now)) return undefined;
  const beside = Object.entries(renamed.with ?? {}).map(([key, value]) => ` with ${key}: ${value}`);
  const text = `${name} is now ${now}${beside.join('')}`;
  return why === undefined ? text : `${text} ${why}`;
}

/** @example `spectral-filter is now prime with directions: one` */
export function estimatorNow(name: string): string | undefined {
  return nowOf(oldEstimators, name);
}

/**
 * @param estimator - its name, where it is known.
 * @param known - the names of its parameters.
 */
export function parameterNow(
  name: string, known: readonly string[], estimator?: string,
): string | undefined {
  const own = estimator === undefined ? undefined : oldParametersOf[estimator];
  return nowOf(own, name) ?? nowOf(oldParameters, name, known);
}

/** @param parameter - its new name. */
export function choiceNow(
  parameter: string, choice: unknown, choices: readonly string[],
): string | undefined {
  if (typeof choice !== 'string' || !Object.hasOwn(oldChoices, parameter)) return undefined;
  return nowOf(oldChoices[parameter], choice, choices);
}

/** The path of a key of a study file without the name of its question. */
function withoutQuestion(path: readonly (string | number)[]): string {
  return path.filter((_, i) => i !== 1 || path[0] !== 'questions').join('.');
}

/**
 * The new name of a key; undefined: it is no old one.
 * @param path - of a study file.
 * @example `groupsMax`, of `questions.rides.by.keysMax`
 */
export function studyKeyNow(path: readonly (string | number)[]): string | undefined {
  const renamed = oldStudyKeys[withoutQuestion(path)];
  return renamed?.now?.split('.').at(-1);
}

/** The new word for one that a key of a study file had; undefined: it is no old one. */
export function studyWordNow(
  path: readonly (string | number)[], word: unknown,
): string | undefined {
  const words = oldStudyWords[withoutQuestion(path)];
  return typeof word === 'string' && words !== undefined && Object.hasOwn(words, word)
    ? words[word]!.now : undefined;
}
