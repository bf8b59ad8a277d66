import { equalBytes, fromUtf8, toHex, utf8 } from '../base/bytes.js';
import { canonicalJson, type JsonValue } from '../base/canonical-json.js';
import { columnLimits, isColumnType, needsQuestions, type ColumnType } from '../base/columns.js';
import { WireError } from '../base/errors.js';
import type { ParameterValue } from '../base/facts.js';
import { factsLimits as limits, isName, nameRule } from '../base/facts-limits.js';
import type { StudyDocument } from './study-document.js';

/**
 * Writes the canonical facts, which are signed, sent and hashed. In version 2 the facts hold a list
 * of columns, each with its name and its type.
 * @throws InvalidParameterError on a number that is not finite.
 */
export function encodeStudyDocument(document: StudyDocument): Uint8Array {
  const { types, ...facts } = document;
  if (types === undefined) return utf8(canonicalJson(facts));
  const columns = document.columns.map((name, i) => ({ name, ...types[i]! }));
  return utf8(canonicalJson({ ...facts, columns }));
}

/**
 * The study's id: SHA-256 of the exact bytes of its canonical facts, as lower-case hex.
 * @param hashing `signing`. It is a parameter because this layer has no cryptography.
 */
export async function studyId(
  facts: Uint8Array,
  hashing: { sha256(bytes: Uint8Array): Promise<Uint8Array> },
): Promise<string> {
  return toHex(await hashing.sha256(facts));
}

/**
 * Reads the facts of a study as a client received them. Only the canonical form is accepted, so
 * that one study has one id.
 * @throws WireError('malformed') with the member and the rule that it breaks; never anything else.
 */
export function decodeStudyDocument(facts: Uint8Array): StudyDocument {
  let parsed: unknown;
  try {
    parsed = JSON.parse(fromUtf8(facts));
  } catch (cause) {
    throw new WireError('malformed', 'the study facts are not JSON in UTF-8', { cause });
  }
  const document = readDocument(new Members(parsed, 'facts'));
  if (!equalBytes(encodeStudyDocument(document), facts)) {
    throw new WireError(
      'malformed', 'the study facts are not in canonical form: sorted keys, no white space',
    );
  }
  return document;
}

function readDocument(facts: Members): StudyDocument {
  const version = facts.choice('version', [1, 2]);
  const document: StudyDocument = {
    version,
    study: facts.text('study'),
    ...(version === 1 ? readNames(facts) : readTypedColumns(facts)),
    cohort: facts.integer('cohort', 1, limits.cohortMax),
    participation: facts.choice('participation', ['secret', 'public']),
    epoch: readEpoch(facts.members('epoch')),
    contribution: readContribution(facts.members('contribution')),
    estimator: facts.text('estimator'),
    parameters: facts.members('parameters').map(readParameter),
    privacy: readPrivacy(facts.members('privacy')),
    budget: readBudget(facts.members('budget')),
    admission: readAdmission(facts.members('admission')),
    late: facts.choice('late', ['next', 'drop']),
    retention: readRetention(facts.members('retention')),
    ...(facts.has('quarantine') && { quarantine: readQuarantine(facts.members('quarantine')) }),
  };
  facts.finish();
  if (new Set(document.columns).size !== document.columns.length || document.columns.length === 0) {
    throw refused('facts.columns', 'one or more different names');
  }
  if ('contributors' in document.epoch && document.participation === 'secret') {
    throw refused('facts.epoch', 'a time: epochs close on a count only with public participation');
  }
  if (needsQuestions(document.types)) {
    throw refused('facts.columns', 'without texts and optional columns: those need questions');
  }
  if (mustChooseOneRow(document) && document.contribution.reduce !== 'one') {
    throw refused('facts.contribution.reduce', 'one: a category has no sum and no mean');
  }
  if (document.admission.kind === 'rate' && document.participation === 'secret') {
    throw refused('facts.admission', 'one for secret presence: with a rate, who is there decides '
      + 'who else may be');
  }
  if (document.quarantine !== undefined && !mayExclude(document)) {
    throw refused('facts.quarantine', 'absent: presence must be secret, and the budget not each '
      + 'contributor\'s own');
  }
  return document;
}

/** The columns of version 1: names of numbers. */
function readNames(facts: Members): Pick<StudyDocument, 'columns'> {
  return {
    columns: facts.list('columns', limits.columns)
      .map((name, i) => checkName(name, `facts.columns[${i}]`)),
  };
}

/** The columns of version 2: each with its name and its type. */
function readTypedColumns(facts: Members): Pick<StudyDocument, 'columns' | 'types'> {
  const list = facts.list('columns', limits.columns);
  if (canonicalJson(list as JsonValue).length > columnLimits.factsBytes) {
    throw refused('facts.columns', `of at most ${columnLimits.factsBytes} characters`);
  }
  const read = list.map((value, i) => {
    const path = `facts.columns[${i}]`;
    const column = new Members(value, path);
    const name = column.text('name');
    const type = readType(column);
    column.finish();
    if (!isColumnType(type)) throw refused(path, 'a column of its type');
    return { name, type };
  });
  return { columns: read.map(({ name }) => name), types: read.map(({ type }) => type) };
}

function readType(column: Members): ColumnType {
  const type = column.choice('type', ['number', 'integer', 'boolean', 'category', 'text']);
  // Present only if true, so that facts without it have one form.
  const optional = column.has('optional') && { optional: column.choice('optional', [true]) };
  switch (type) {
    case 'boolean': return { type, ...optional };
    // isColumnType refuses what is no number.
    case 'text': return { type, bytes: column.take('bytes') as number, ...optional };
    case 'category': return {
      type,
      ...optional,
      of: column.list('of', columnLimits.names).map((name) => checkName(name, 'a name in of')),
      ...(column.has('other') && { other: column.choice('other', [true]) }),
    };
    default: return {
      type,
      ...optional,
      // They are numbers, or isColumnType refuses them.
      ...(column.has('low') && { low: column.take('low') as number }),
      ...(column.has('high') && { high: column.take('high') as number }),
    };
  }
}

/** Whether several rows of a person can only be reduced to one of them. */
export function mustChooseOneRow({ types = [] }: Pick<StudyDocument, 'types'>): boolean {
  return types.some(({ type }) => type === 'category');
}

/**
 * Whether a study may exclude keys for the rows they sent. Not if presence is public: a missing key
 * would then reveal, without noise, what it had sent. Not if each contributor has its own budget:
 * that promise is for contributors who are in the same epochs whatever they send.
 */
export function mayExclude(
  { participation, budget }: Pick<StudyDocument, 'participation' | 'budget'>,
): boolean {
  return participation === 'secret' && budget.scope !== 'contributor';
}

function readEpoch(epoch: Members): StudyDocument['epoch'] {
  const value = epoch.has('everyMs')
    ? { everyMs: epoch.integer('everyMs', 1, Number.MAX_SAFE_INTEGER) }
    : { contributors: epoch.integer('contributors', 1, limits.cohortMax) };
  epoch.finish();
  return value;
}

function readContribution(contribution: Members): StudyDocument['contribution'] {
  const value = {
    reduce: contribution.choice('reduce', ['mean', 'sum', 'one']),
    rowsMax: contribution.integer('rowsMax', 1, Number.MAX_SAFE_INTEGER),
  };
  contribution.finish();
  return value;
}

function readPrivacy(privacy: Members): StudyDocument['privacy'] {
  const value = { epsilon: privacy.positive('epsilon'), delta: privacy.probability('delta') };
  privacy.finish();
  return value;
}

function readBudget(budget: Members): StudyDocument['budget'] {
  const scope = budget.choice('scope', ['study', 'contributor', 'population']);
  const value = {
    epsilon: budget.positive('epsilon'),
    delta: budget.probability('delta'),
    rule: budget.choice('rule', ['zcdp', 'pure', 'renyi']),
    scope,
    ...(scope === 'population' && { population: budget.text('population') }),
    ...(budget.has('perMs') && { perMs: budget.integer('perMs', 1, Number.MAX_SAFE_INTEGER) }),
  };
  budget.finish();
  return value;
}

function readAdmission(admission: Members): StudyDocument['admission'] {
  const kind = admission.choice('kind', ['open', 'keys', 'enrolment', 'rate']);
  const hex = (name: string) =>
    admission.pattern(name, /^[0-9a-f]{64}$/, '64 digits of lower-case hex');
  const whole = (name: string) => admission.integer(name, 1, Number.MAX_SAFE_INTEGER);
  const value =
    kind === 'open' ? { kind }
      : kind === 'keys' ? { kind, digest: hex('digest') }
        : kind === 'enrolment'
          ? { kind, issuer: hex('issuer') } : { kind, keys: whole('keys'), perMs: whole('perMs') };
  admission.finish();
  return value;
}

function readRetention(retention: Members): StudyDocument['retention'] {
  const kind = retention.choice('kind', ['release', 'duration']);
  const value =
    kind === 'release'
      ? { kind } : { kind, keepMs: retention.integer('keepMs', 1, Number.MAX_SAFE_INTEGER) };
  retention.finish();
  return value;
}

function readQuarantine(quarantine: Members): NonNullable<StudyDocument['quarantine']> {
  const value = {
    beyond: quarantine.positive('beyond'),
    // Present only if true, so that facts without it have one form.
    ...(quarantine.has('automatic') && { automatic: quarantine.choice('automatic', [true]) }),
  };
  quarantine.finish();
  return value;
}

function readParameter(value: unknown, path: string): ParameterValue {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && value.length <= limits.parameterText) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value) && value.length <= limits.columns) {
    return value.map((item: unknown, i) => {
      if (typeof item !== 'number' || !Number.isFinite(item)) {
        throw refused(`${path}[${i}]`, 'a finite number');
      }
      return item;
    });
  }
  throw refused(path, `a number, a boolean, a text of at most ${limits.parameterText} characters `
    + 'or a list of numbers');
}

function checkName(value: unknown, path: string): string {
  if (typeof value === 'string' && isName(value)) return value;
  throw refused(path, nameRule);
}

function refused(path: string, rule: string): WireError {
  return new WireError('malformed', `${path} of the study is not ${rule}`, { details: { path } });
}

/**
 * The members of one JSON object, each read once. `finish` refuses all members that were not read.
 */
class Members {
  private readonly content: ReadonlyMap<string, unknown>;
  private readonly asked = new Set<string>();

  constructor(value: unknown, private readonly path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw refused(path, 'an object');
    }
    this.content = new Map(Object.entries(value));
  }

  has(name: string): boolean {
    return this.content.has(name);
  }

  members(name: string): Members {
    return new Members(this.take(name), `${this.path}.${name}`);
  }

  map<T>(read: (value: unknown, path: string) => T): Record<string, T> {
    return Object.fromEntries(
      [...this.content].map(([name, value]) =>
        [checkName(name, this.path), read(value, `${this.path}.${name}`)]),
    );
  }

  list(name: string, lengthMax: number): readonly unknown[] {
    const value = this.take(name);
    if (!Array.isArray(value) || value.length > lengthMax) {
      throw refused(`${this.path}.${name}`, `a list of at most ${lengthMax}`);
    }
    return value;
  }

  text(name: string): string {
    return checkName(this.take(name), `${this.path}.${name}`);
  }

  pattern(name: string, pattern: RegExp, rule: string): string {
    const value = this.take(name);
    if (typeof value !== 'string' || !pattern.test(value)) {
      throw refused(`${this.path}.${name}`, rule);
    }
    return value;
  }

  choice<const T extends string | number | boolean>(name: string, allowed: readonly T[]): T {
    const value = this.take(name);
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw refused(`${this.path}.${name}`, `one of ${allowed.join(', ')}`);
    return found;
  }

  integer(name: string, minimum: number, maximum: number): number {
    const value = this.take(name);
    if (Number.isSafeInteger(value) && (value as number) >= minimum
        && (value as number) <= maximum) {
      return value as number;
    }
    throw refused(`${this.path}.${name}`, `an integer in ${minimum}..${maximum}`);
  }

  positive(name: string): number {
    const value = this.take(name);
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
    throw refused(`${this.path}.${name}`, 'a positive number');
  }

  probability(name: string): number {
    const value = this.take(name);
    if (typeof value === 'number' && value >= 0 && value < 1) return value;
    throw refused(`${this.path}.${name}`, 'a number in [0, 1)');
  }

  finish(): void {
    for (const name of this.content.keys()) {
      if (!this.asked.has(name)) {
        throw refused(`${this.path}.${JSON.stringify(name)}`, 'a fact that this version has');
      }
    }
  }

  take(name: string): unknown {
    this.asked.add(name);
    return this.content.get(name);
  }
}
