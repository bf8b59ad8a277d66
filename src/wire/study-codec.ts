import { budgetRuleNames, keepsTwoSums } from '../base/budget-rules.js';
import { equalBytes, fromUtf8, toHex, utf8 } from '../base/bytes.js';
import { canonicalJson, type JsonValue } from '../base/canonical-json.js';
import type { TypedColumns } from '../base/question-rules.js';
import { columnLimits, isColumnType, needsQuestions, type ColumnType } from '../base/columns.js';
import {
  columnFormats, columnWordsFault, wordLimits, wordsOfColumns, type ColumnWords,
} from '../base/study-words.js';
import { WireError } from '../base/errors.js';
import { factsLimits as limits } from '../base/facts-limits.js';
import { mostAwaited, usualPeopleMax } from '../base/people.js';
import type { Question, RunningFacts } from '../base/questions.js';
import { runningLimits } from '../base/root-factor.js';
import { issuerName } from '../base/token-periods.js';
import { checkName, readObject, readParameter, refused, type Members } from './members.js';
import { readQuestions } from './questions-codec.js';
import { notSealable, readSealed } from './sealed-codec.js';
import {
  ofShortFacts, type SealedFacts, type SharedFacts, type StudyDocument,
} from './study-document.js';

/** Unix ms in the year 2527: sums of such numbers are exact. */
const latestMs = 2 ** 44;

/**
 * Writes the canonical facts, which are signed, sent and hashed, in the form in which they were
 * read. In version 2 the facts hold a list of columns, each with its name, its type and its words.
 * @throws InvalidParameterError on a number that is not finite.
 */
export function encodeStudyDocument(document: StudyDocument): Uint8Array {
  const { types, columnWords, wireForm, ...listed } = document;
  const facts = wireForm === undefined ? listed : withoutList(listed);
  if (types === undefined) return utf8(canonicalJson(facts as unknown as JsonValue));
  const columns = document.columns.map((name, i) => ({ name, ...types[i]!, ...columnWords?.[i] }));
  return utf8(canonicalJson({ ...facts, columns }));
}

/** The members of `ShortFacts`. */
function withoutList({ questions, contribution, ...shared }: StudyDocument): object {
  const { estimator, parameters, reduce } = questions[0]!;
  return { ...shared, estimator, parameters, contribution: { ...contribution, reduce } };
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

/** Reads `questions` of the facts of a study with these columns. @throws WireError('malformed'). */
type ReadQuestions = (facts: Members, columns: TypedColumns) => readonly Question[];

/**
 * Reads the facts of a study as a client received them. Only the canonical form is accepted, so
 * that one study has one id.
 * @throws WireError('malformed') with the member and the rule that it breaks; never anything else.
 */
export function decodeStudyDocument(facts: Uint8Array): StudyDocument {
  return readFacts(facts, readQuestions, checkedSealed);
}

/**
 * Reads the facts of a study for somebody who only contributes. The questions of a list are handed
 * over as the server signed them: they are JSON, and nothing else about them is checked. A
 * contributor sends the same rows whatever is asked, and a page has no room for the rules.
 * @throws WireError('malformed') with the member and the rule that it breaks; never anything else.
 */
export function decodeContributorFacts(facts: Uint8Array): StudyDocument {
  return readFacts(facts, (given) => given.take('questions') as readonly Question[], (given) =>
    given.take('sealed') as SealedFacts);
}

type ReadSealed = (facts: Members) => SealedFacts;
const checkedSealed: ReadSealed = (facts) => facts.object('sealed', readSealed);

function readFacts(
  facts: Uint8Array, read: ReadQuestions, sealed: ReadSealed,
): StudyDocument {
  let parsed: unknown;
  try {
    parsed = JSON.parse(fromUtf8(facts));
  } catch (cause) {
    throw new WireError('malformed', 'the study facts are not JSON in UTF-8', { cause });
  }
  const document = readObject(parsed, 'facts', (members) => readDocument(members, read, sealed));
  // Each member has one form, and nothing else is in them. So it is enough to look at the JSON.
  if (!isCanonical(facts, parsed)) {
    throw new WireError('malformed', 'the study facts are not in canonical form');
  }
  return document;
}

function isCanonical(facts: Uint8Array, parsed: unknown): boolean {
  try {
    return equalBytes(utf8(canonicalJson(parsed as JsonValue)), facts);
  } catch {
    // Nested too deeply, or with numbers that JavaScript does not hold.
    return false;
  }
}

function readDocument(facts: Members, read: ReadQuestions, sealed: ReadSealed): StudyDocument {
  const version = facts.choice('version', [1, 2]);
  const shared: SharedFacts = {
    version,
    study: facts.text('study'),
    ...(facts.has('title') && { title: facts.line('title', wordLimits.title) }),
    ...(facts.has('description') && {
      description: facts.line('description', wordLimits.description),
    }),
    ...(version === 1 ? readNames(facts) : readTypedColumns(facts)),
    cohort: facts.integer('cohort', 1, limits.cohortMax),
    ...(facts.has('peopleMax') && {
      peopleMax: facts.integer('peopleMax', 1, limits.peopleMax),
    }),
    participation: facts.choice('participation', ['secret', 'public']),
    epoch: facts.object('epoch', readEpoch),
    privacy: facts.object('privacy', readPrivacy),
    budget: facts.object('budget', readBudget),
    ...(facts.has('noise') && { noise: facts.choice('noise', ['laplace', 'gaussian']) }),
    admission: facts.object('admission', readAdmission),
    late: facts.choice('late', ['next', 'drop']),
    retention: facts.object('retention', readRetention),
    ...(facts.has('quarantine') && { quarantine: facts.object('quarantine', readQuarantine) }),
    ...(facts.has('running') && { running: facts.object('running', readRunning) }),
    ...(facts.has('sealed') && { sealed: sealed(facts) }),
  };
  checkShared(shared);
  return version === 2 && facts.has('questions')
    ? readMany(facts, shared, read) : readOne(facts, shared);
}

function checkShared({ columns, epoch, admission, participation, ...rest }: SharedFacts): void {
  if (new Set(columns).size !== columns.length || columns.length === 0) {
    throw refused('facts.columns', 'one or more different names');
  }
  const { cohort, peopleMax } = rest;
  if (peopleMax !== undefined && (peopleMax < mostAwaited({ cohort, epoch })
    || peopleMax === usualPeopleMax({ cohort, epoch }))) {
    throw refused('facts.peopleMax', 'at least the people awaited, and no default');
  }
  const { budget: { rule, scope, releases }, noise } = rest;
  if (releases !== undefined && (rule === 'renyi' || scope === 'population')) {
    throw refused('facts.budget.releases', 'absent, with this rule or scope');
  }
  if ((noise !== undefined) !== (releases !== undefined && keepsTwoSums(rule))) {
    throw refused('facts.noise', 'there exactly with budget.releases and rule zcdp or gaussian');
  }
  const isSecret = participation === 'secret';
  if (isSecret && 'contributors' in epoch) {
    throw refused('facts.epoch', 'a time, with secret participation');
  }
  if (isSecret && admission.kind === 'rate') {
    throw refused('facts.admission', 'one for secret participation');
  }
  if (admission.kind === 'tokens' && !canHaveTokens(admission.perMs, epoch, rest.late)) {
    throw refused('facts.admission', 'one for this epoch and late');
  }
  if (rest.quarantine !== undefined && !mayExclude({ participation, budget: rest.budget })) {
    throw refused('facts.quarantine', 'one for this participation and budget');
  }
  if (rest.running !== undefined && runningFault({ participation, budget: rest.budget }) !== null) {
    throw refused('facts.running', 'one for this participation and budget');
  }
  const fault = rest.sealed === undefined ? null
    : notSealable({ columns, epoch, admission, participation, ...rest });
  if (fault !== null) throw refused(`facts.${fault}`, 'one for sealed rows');
}

/**
 * True if an epoch can belong to the period in which it opens: it ends by time, is no longer than a
 * period, and no row moves to the next one.
 */
function canHaveTokens(
  perMs: number, epoch: StudyDocument['epoch'], late: StudyDocument['late'],
): boolean {
  return 'everyMs' in epoch && epoch.everyMs <= perMs && late === 'drop';
}

/** Facts without a list of questions. */
function readOne(facts: Members, shared: SharedFacts): StudyDocument {
  const contribution = facts.object('contribution', (given) => ({
    reduce: given.choice('reduce', ['mean', 'sum', 'one']), rowsMax: readRowsMax(given),
  }));
  if (needsQuestions(shared.types)) {
    throw refused('facts.columns', 'without texts and optional columns');
  }
  if (shared.running?.questions !== undefined) {
    throw refused('facts.running', 'without questions, for one question');
  }
  if (mustChooseOneRow(shared) && contribution.reduce !== 'one') {
    throw refused('facts.contribution.reduce', 'one, with a category');
  }
  return ofShortFacts({
    ...shared, contribution,
    estimator: facts.text('estimator'), parameters: facts.map('parameters', readParameter),
  });
}

/** Facts with a list of questions. */
function readMany(facts: Members, shared: SharedFacts, read: ReadQuestions): StudyDocument {
  const { columns, types } = shared;
  const questions = read(facts, { columns, types: types! });
  const { running } = shared;
  if (running !== undefined && !isSubset(running.questions, questions)) {
    throw refused('facts.running.questions', 'a list of the study\'s questions, in its order');
  }
  return {
    ...shared,
    contribution: facts.object('contribution', (given) => ({ rowsMax: readRowsMax(given) })),
    questions,
  };
}

/** True if the names are some of the questions, at least one, in their order. */
function isSubset(names: readonly string[] = [], questions: readonly Question[]): boolean {
  const running = questions.map(({ name }) => name).filter((name) => names.includes(name));
  return names.length > 0 && running.length === names.length
    && names.every((name, i) => name === running[i]);
}

function readRowsMax(contribution: Members): number {
  return contribution.integer('rowsMax', 1, Number.MAX_SAFE_INTEGER);
}

/** The columns of version 1: names of numbers. */
function readNames(facts: Members): Pick<SharedFacts, 'columns'> {
  return {
    columns: facts.list('columns', limits.columns)
      .map((name, i) => checkName(name, `facts.columns[${i}]`)),
  };
}

/** The columns of version 2: each with its name, its type and its words. */
function readTypedColumns(
  facts: Members,
): Pick<SharedFacts, 'columns' | 'types' | 'columnWords'> {
  const list = facts.list('columns', limits.columns);
  if (canonicalJson(list as JsonValue).length > columnLimits.factsBytes) {
    throw refused('facts.columns', `of at most ${columnLimits.factsBytes} characters`);
  }
  const read = list.map((value, i) => {
    const path = `facts.columns[${i}]`;
    const column = readObject(value, path, (members) =>
      ({ name: members.text('name'), type: readType(members), words: readWords(members) }));
    if (!isColumnType(column.type)) throw refused(path, 'a column of its type');
    const fault = columnWordsFault(column.words, column.type);
    if (fault !== null) throw refused(`${path}.${fault[0]}`, fault[1]);
    return column;
  });
  return {
    columns: read.map(({ name }) => name), types: read.map(({ type }) => type),
    ...wordsOfColumns(read.map(({ words }) => words)),
  };
}

function readWords(column: Members): ColumnWords {
  return {
    ...(column.has('label') && { label: column.line('label', wordLimits.label) }),
    ...(column.has('unit') && { unit: column.line('unit', wordLimits.unit) }),
    ...(column.has('format') && { format: column.choice('format', columnFormats) }),
  };
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

/** True if several rows of a person can only be reduced to one of them. */
export function mustChooseOneRow({ types = [] }: Pick<StudyDocument, 'types'>): boolean {
  return types.some(({ type }) => type === 'category');
}

/**
 * True if a study may exclude keys for the rows they sent. Not if presence is public: a missing key
 * would then reveal, without noise, what it had sent. Not if each contributor has its own budget:
 * that promise is for contributors who are in the same epochs whatever they send.
 */
export function mayExclude(
  { participation, budget }: Pick<StudyDocument, 'participation' | 'budget'>,
): boolean {
  return participation === 'secret' && budget.scope !== 'contributor';
}

/**
 * Why a study cannot have running totals, and what to do; null when it can. Their proof
 * (src/privacy/running) needs contributors who are rarely in an epoch, which only a budget of each
 * contributor enforces, and epochs that nobody's absence skips. A value is in later releases too,
 * so a charge that leaves the budget's window would leave it too early.
 */
export function runningFault(
  { participation, budget }: Pick<StudyDocument, 'participation' | 'budget'>,
): readonly [path: string, rule: string, remedy: string] | null {
  if (budget.scope !== 'contributor') {
    return [
      'budget.scope', 'running needs a budget of each contributor', 'write scope: contributor',
    ];
  }
  if (participation !== 'secret') {
    return ['participation', 'running needs secret participation', 'write participation: secret'];
  }
  if (budget.perMs !== undefined) {
    return ['budget.per', 'a running total needs a budget that does not renew', 'leave per out'];
  }
  switch (budget.rule) {
    case 'pure':
      return ['budget.rule', 'a running total has Gaussian noise, which is not pure',
        'leave rule out'];
    case 'gaussian':
      return ['budget.rule', 'a running total has a cost in zCDP only', 'leave rule out'];
    default: return null;
  }
}

function readEpoch(epoch: Members): StudyDocument['epoch'] {
  return epoch.has('everyMs')
    ? { everyMs: epoch.integer('everyMs', 1, Number.MAX_SAFE_INTEGER) }
    : { contributors: epoch.integer('contributors', 1, limits.cohortMax) };
}

function readPrivacy(privacy: Members): StudyDocument['privacy'] {
  return {
    epsilon: readPositive(privacy, 'epsilon'),
    delta: privacy.number('delta', (value) => value >= 0 && value < 1, 'a number in [0, 1)'),
  };
}

function readPositive(members: Members, name: string): number {
  return members.number(name, (value) => value > 0, 'a positive number');
}

function readBudget(budget: Members): StudyDocument['budget'] {
  const scope = budget.choice('scope', ['study', 'contributor', 'population']);
  return {
    ...readPrivacy(budget),
    rule: budget.choice('rule', budgetRuleNames),
    scope,
    ...(scope === 'population' && { population: budget.text('population') }),
    ...(budget.has('perMs') && { perMs: budget.integer('perMs', 1, Number.MAX_SAFE_INTEGER) }),
    ...(budget.has('releases') && {
      releases: budget.integer('releases', 1, limits.budgetReleasesMax),
    }),
  };
}

function readAdmission(admission: Members): StudyDocument['admission'] {
  const kind = admission.choice('kind', ['open', 'contributorKeys', 'enrolment', 'tokens', 'rate']);
  const hex = (name: string) =>
    admission.pattern(name, /^[0-9a-f]{64}$/, '64 digits of lower-case hex');
  const whole = (name: string) => admission.integer(name, 1, Number.MAX_SAFE_INTEGER);
  return kind === 'open' ? { kind }
    : kind === 'contributorKeys' ? { kind, digest: hex('digest') }
      : kind === 'enrolment'
        ? { kind, issuer: hex('issuer') }
        : kind === 'tokens' ? readTokens(admission)
          : { kind, contributorKeys: whole('contributorKeys'), perMs: whole('perMs') };
}

function readTokens(admission: Members): StudyDocument['admission'] {
  const keys = admission.list('keys', limits.tokenPeriods);
  const isId = (key: unknown): key is string =>
    typeof key === 'string' && /^[0-9a-f]{64}$/.test(key);
  if (keys.length === 0 || !keys.every(isId) || new Set(keys).size < keys.length) {
    throw refused('facts.admission.keys', 'a list of different ids');
  }
  return {
    kind: 'tokens',
    issuer: admission.pattern('issuer', issuerName, 'the name of a host'),
    fromMs: admission.integer('fromMs', 1, latestMs),
    perMs: admission.integer('perMs', 1, latestMs),
    keys,
  };
}

function readRetention(retention: Members): StudyDocument['retention'] {
  const kind = retention.choice('kind', ['release', 'duration']);
  return kind === 'release'
    ? { kind } : { kind, keepMs: retention.integer('keepMs', 1, Number.MAX_SAFE_INTEGER) };
}

function readQuarantine(quarantine: Members): NonNullable<StudyDocument['quarantine']> {
  return {
    beyond: readPositive(quarantine, 'beyond'),
    // Present only if true, so that facts without it have one form.
    ...(quarantine.has('automatic') && { automatic: quarantine.choice('automatic', [true]) }),
  };
}

function readRunning(running: Members): RunningFacts {
  return {
    separation: running.integer('separation', 2, runningLimits.separation),
    ...(running.has('questions') && {
      questions: running.list('questions', 16).map((name) => checkName(name, 'facts.running')),
    }),
  };
}
