import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import { codeOf, InvalidParameterError, KeelsonError } from '../../src/base/errors.js';
import type { ColumnsInput } from '../../src/base/row-types.js';
import { mostAwaited, usualPeopleMax } from '../../src/base/people.js';
import { findEstimator as findRegistered } from '../../src/estimators/registry.js';
import { checkPublicKey } from '../../src/signing/index.js';
import { withLeastNoise } from '../../src/plan-study.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { mayExclude, runningFault } from '../../src/wire/study-codec.js';
import type { FindEstimator } from '../epochs/engine.js';
import { defineStudy, type StudyDefinition } from '../studies/definition.js';
import { answersAreRows, comparedPlace, rounded } from '../studies/keep/own-rows.js';
import { quarantineBound } from '../studies/keep/quarantine-bound.js';
import { checkText, checkValue, type CheckedFile } from './check.js';
import { readColumns } from './columns.js';
import { questionsOfFile, type FileQuestions } from './desugar.js';
import { digestOfKeys, parseKeyList } from './enrolled-keys.js';
import type { Populations } from './populations.js';
import { readQuestions } from './questions.js';
import { shown, studyError } from './refusal.js';
import { checkSealed, sealedFactsOf } from './sealed-facts.js';
import { studySchema, type StudyFile } from './schema.js';
import type { StudyInput } from './study-input.js';

/** The name of a study file, and the parts that it may refer to. */
export interface StudyTextOptions {
  /** The file's name, for messages. */
  readonly name: string;
  /** Shared budgets, from `parsePopulationsText`. */
  readonly populations?: Populations | undefined;
  /**
   * Reads a file that the study names (its list of keys), relative to the study's own file. The
   * caller provides it, since this module reads no files.
   */
  readonly readText?: (path: string) => string;
  /** Default: the registry. */
  readonly findEstimator?: FindEstimator;
}

/**
 * Turns a study file into a study that can run: checked, defaults filled in, parameters parsed,
 * planned once.
 * @throws KeelsonError('invalid-study') naming the path, the value, the rule and a remedy;
 *   KeelsonError('plan-infeasible') when the study is well-formed and no plan for it exists.
 */
export function parseStudyText(text: string, options: StudyTextOptions): StudyDefinition {
  return readStudy(checkText(studySchema, text, options.name), options);
}

/**
 * A study that is written in a program: the keys of a study file, with types, so that an editor
 * completes them and a compiler knows the names of the columns.
 * @returns what `parseStudyText` returns for the same keys, with the same id.
 * @throws KeelsonError as `parseStudyText` does, without lines.
 * @example
 * import { study } from 'keelson/server';
 *
 * const commutes = study({
 *   study: 'commutes',
 *   columns: { minutes: 'number', late: 'boolean' },
 *   cohort: 3000,
 *   epoch: { every: '1d' },
 *   questions: {
 *     late: { estimator: 'count', where: { late: true } },
 *     travel: { estimator: 'mean', columns: ['minutes'], parameters: { spread: 20 } },
 *   },
 *   privacy: { epsilon: 1, delta: 1e-6 },
 *   budget: { epsilon: 8, delta: 1e-5 },
 * });
 * console.log(commutes.document.study);   // commutes
 */
export function study<const Columns extends ColumnsInput>(
  input: StudyInput<Columns>, options: Omit<StudyTextOptions, 'name'> = {},
): StudyDefinition {
  const { study: given } = input ?? {};
  const name = typeof given === 'string' && given !== '' ? given : 'the study';
  return readStudy(checkValue(studySchema, input, name), { ...options, name });
}

/** The study of a checked file, or of a checked object of a program. */
function readStudy(
  checked: CheckedFile<StudyFile>, options: StudyTextOptions,
): StudyDefinition {
  const file = new StudyReader(checked, options);
  const { document, enrolled } = file.read();
  let definition: StudyDefinition;
  try {
    const { findEstimator = findRegistered } = options;
    const { isRuleOpen } = file;
    definition = {
      ...defineStudy(withLeastNoise(document, findEstimator, isRuleOpen), enrolled, findEstimator),
      isRuleOpen,
    };
  } catch (error) {
    throw file.placed(error);
  }
  file.checkQuarantine(definition);
  return definition;
}

type Columns = ReturnType<typeof readColumns>;
/** The questions of the study, and their effect on the columns. */
type Asked = Pick<StudyDocument, 'questions' | 'contribution' | 'wireForm'>
  & Partial<Pick<StudyDocument, 'version' | 'types'>>;

class StudyReader {
  readonly #content: StudyFile;
  #placeOf: FileQuestions['placeOf'] = (path) => path;

  constructor(
    private readonly file: CheckedFile<StudyFile>, private readonly options: StudyTextOptions,
  ) {
    this.#content = file.content;
  }

  read(): { readonly document: StudyDocument; readonly enrolled: ReadonlySet<string> | null } {
    const {
      study, title, description, cohort, participation, privacy, retention, quarantine,
      running, sealed,
    } = this.#content;
    const { late = sealed === undefined ? 'next' : 'drop' } = this.#content;
    const columns = readColumns(this.#content, this.#refuse);
    const file = questionsOfFile(this.#content, columns, this.#refuse);
    this.#placeOf = file.placeOf;
    const asked = this.#asked(columns, file);
    const { admission, enrolled } = this.#admission();
    const document: StudyDocument = {
      ...columns, study, ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      cohort, ...this.#peopleMax(), participation, late, privacy, ...asked,
      epoch: this.#epoch(),
      budget: this.#budget(),
      admission,
      retention: retention === 'release'
        ? { kind: 'release' } : { kind: 'duration', keepMs: retention },
      ...(quarantine !== undefined && {
        quarantine: {
          beyond: quarantine.beyond, ...(quarantine.automatic && { automatic: true as const }),
        },
      }),
      ...(running !== undefined && { running: this.#running(running, asked) }),
      ...(sealed !== undefined && { sealed: sealedFactsOf(sealed) }),
    };
    this.#checkRunning(document);
    checkSealed(document, this.#refuse);
    if (quarantine !== undefined && !mayExclude(document)) {
      throw this.#refused('quarantine', undefined,
        'cannot be used here: exclusions would reveal, or charge people for, what they had sent',
        'leave it out, or use participation: secret with a budget that is not each contributor\'s '
          + 'own');
    }
    return { document, enrolled };
  }

  /** True if the file leaves the rule of the study's own budget out. */
  get isRuleOpen(): boolean {
    const { population, rule } = this.#content.budget;
    return population === undefined && rule === undefined;
  }

  /** The questions, and the columns as the facts list them. */
  #asked(own: Columns, { questions, wireForm }: FileQuestions): Asked {
    const { contribution: { reduce, rowsMax = 64 } } = this.#content;
    const { columns } = own;
    const types = own.types ?? columns.map((): ColumnType => ({ type: 'number' }));
    const typed = { columns, types };
    try {
      const read = readQuestions(questions, {
        columns: typed, reduce, refuse: this.#refuse,
        findEstimator: this.options.findEstimator ?? findRegistered,
      });
      const asked = { questions: read, contribution: { rowsMax } };
      return wireForm === undefined ? { ...asked, version: 2, types }
        : { ...asked, wireForm };
    } catch (error) {
      throw error instanceof InvalidParameterError ? this.placed(error) : error;
    }
  }

  /** A rule that compares rows with answers needs answers with the form of rows. */
  checkQuarantine(definition: StudyDefinition): void {
    if (definition.document.quarantine === undefined) return;
    if (answersAreRows(definition)) return this.#checkBound(definition);
    const names = definition.questions.map(({ estimator }) => estimator.name);
    throw this.#refused('quarantine', undefined,
      `compares rows with answers, and an answer of ${names.join(' or ')} is not one number for `
        + 'each column',
      'leave it out, or ask for one that is and is not split, such as robust-mean');
  }

  /** A rule that acts by itself may not exclude everybody when liars move the answer. */
  #checkBound(definition: StudyDefinition): void {
    const bound = quarantineBound(definition);
    if (bound === null) return;
    const { document, questions } = definition;
    const { quarantine } = document;
    const { estimator } = questions[comparedPlace(document)]!;
    if (bound.error === null) {
      throw this.#refused('quarantine.automatic', undefined,
        `excludes keys for good by answers of ${estimator.name}, which has no bound on how far `
        + 'liars move an answer: they could move it away from all honest keys',
        'leave it out, or choose an estimator that has one, such as robust-mean, with a '
        + 'corruption above 0');
    }
    const { beyond } = quarantine!;
    if (beyond > bound.error) return;
    throw this.#refused('quarantine.beyond', beyond,
      `the planned share of liars may move an answer by ${rounded(bound.error)}, so honest keys `
      + 'would be excluded for good',
      `give more than ${rounded(bound.error)}, better by 5 or more, or leave automatic out`);
  }

  /** Turns an error that follows from the file's values into one about the file. */
  placed(error: unknown): unknown {
    const { name } = this.options;
    if (error instanceof InvalidParameterError) {
      const path = this.#placeOf(typeof error.details['path'] === 'string'
        ? error.details['path'] : pathOfPrivacy(error, this.#content));
      return studyError(
        name, { path, rule: `cannot be used: ${error.message}`, line: this.#line(path) }, error,
      );
    }
    if (!(error instanceof KeelsonError)) return error;
    if (error.code !== 'invalid-study' && error.code !== 'plan-infeasible') return error;
    return new KeelsonError(
      error.code, `${name}: ${error.message}`,
      { details: { file: name, ...error.details }, cause: error },
    );
  }

  #epoch(): StudyDocument['epoch'] {
    const { every, contributors } = this.#content.epoch;
    if (every !== undefined) return { everyMs: every };
    if (this.#content.participation === 'secret') {
      throw this.#refused(
        'epoch.contributors', contributors, 'epochs that close on a count show when people come',
          'give every: a duration, or write participation: public',
      );
    }
    return { contributors: contributors! };
  }

  /** Without the default, so that one study has one id. */
  #peopleMax(): Pick<StudyDocument, 'peopleMax'> {
    const { cohort, peopleMax } = this.#content;
    const facts = { cohort, epoch: this.#epoch() };
    if (peopleMax === undefined || peopleMax === usualPeopleMax(facts)) return {};
    const least = mostAwaited(facts);
    if (peopleMax >= least) return { peopleMax };
    throw this.#refused('peopleMax', peopleMax, `an epoch expects ${least} people`,
      `give at least ${least}, better a few times as many, or leave it out`);
  }

  /** The names of the questions in the study's order, so that one study has one id. */
  #running(
    { separation, questions }: NonNullable<StudyFile['running']>, asked: Asked,
  ): NonNullable<StudyDocument['running']> {
    const names = asked.questions.map(({ name }) => name);
    if (this.#content.questions === undefined) {
      if (questions === undefined) {
        return { separation, ...(asked.wireForm === undefined && { questions: names }) };
      }
      throw this.#refused('running.questions', undefined, 'names questions, and the study has one',
        'leave it out');
    }
    const unknown = questions?.find((name) => !names.includes(name));
    if (questions === undefined || unknown !== undefined) {
      throw this.#refused('running.questions', unknown,
        unknown === undefined ? 'is missing' : 'is no question of this study',
        `give some of ${names.join(', ')}`);
    }
    return { separation, questions: names.filter((name) => questions.includes(name)) };
  }

  #checkRunning(document: StudyDocument): void {
    const fault = document.running === undefined ? null : runningFault(document);
    if (fault === null) return;
    const [path, rule, remedy] = fault;
    throw this.#refused(path, undefined, rule, remedy);
  }

  #budget(): StudyDocument['budget'] {
    const { population, epsilon, delta, rule = 'zcdp', scope = 'study', per, releases } =
      this.#content.budget;
    if (releases !== undefined && rule === 'renyi') {
      throw this.#refused('budget.releases', releases, 'cannot be used with rule: renyi',
        'leave one of them out');
    }
    if (population === undefined) {
      const own = {
        epsilon: epsilon!, delta: delta!, rule, scope, ...(releases !== undefined && { releases }),
      };
      return this.#renewing(per === undefined ? own : { ...own, perMs: per });
    }
    const found = this.options.populations?.get(population);
    if (found === undefined) {
      const known = [...(this.options.populations?.keys() ?? [])];
      throw this.#refused('budget.population', population, 'no populations file defines it',
        known.length === 0 ? 'give a populations file' : `the populations are ${known.join(', ')}`);
    }
    return this.#renewing({ ...found, scope: 'population', population });
  }

  #renewing(budget: StudyDocument['budget']): StudyDocument['budget'] {
    const { every } = this.#content.epoch;
    if (budget.perMs !== undefined && every !== undefined && budget.perMs < every) {
      const path = budget.population === undefined ? 'budget.per' : 'budget.population';
      throw this.#refused(path, budget.population ?? `${budget.perMs}ms`,
        'the budget renews more often than an epoch ends',
        'give per: a duration of at least epoch.every');
    }
    return budget;
  }

  #admission(): {
    readonly admission: StudyDocument['admission']; readonly enrolled: ReadonlySet<string> | null;
  } {
    const { admission } = this.#content;
    if (admission === 'open') return { admission: { kind: 'open' }, enrolled: null };
    if ('enrolment' in admission) {
      return {
        admission: { kind: 'enrolment', issuer: this.#issuer(admission.enrolment.issuer) },
        enrolled: null,
      };
    }
    if ('tokens' in admission) {
      return { admission: this.#tokens(admission.tokens), enrolled: null };
    }
    if ('rate' in admission) return { admission: this.#rate(admission.rate), enrolled: null };
    const { contributorKeys: keys } = admission;
    const enrolled = typeof keys === 'string' ? this.#keysIn(keys)
      : parseKeyList(keys.join('\n'), `${this.options.name}: admission.contributorKeys`);
    return { admission: { kind: 'contributorKeys', digest: digestOfKeys(enrolled) }, enrolled };
  }

  #rate({ contributorKeys, per }: {
    readonly contributorKeys: number; readonly per: number;
  }): StudyDocument['admission'] {
    if (this.#content.participation === 'secret') {
      throw this.#refused('admission.rate', { contributorKeys, per: `${per}ms` },
        'with a rate, a key that is taken may keep another out, so it reveals who takes part',
        'write participation: public, or admit by contributorKeys or enrolment');
    }
    return { kind: 'rate', contributorKeys, perMs: per };
  }

  /** Each epoch belongs to the period in which it opens, so no row may move to the next epoch. */
  #tokens({ issuer, from, per, keys }: {
    readonly issuer: string; readonly from: number; readonly per: number;
    readonly keys: readonly string[];
  }): StudyDocument['admission'] {
    const { late = 'next' } = this.#content;
    const epoch = this.#epoch();
    if (late !== 'drop') {
      throw this.#refused('late', late, 'with tokens a late row may not move to the next epoch, '
        + 'where its sender may have another token', 'write late: drop');
    }
    if (!('everyMs' in epoch)) {
      throw this.#refused('epoch', undefined, 'with tokens an epoch ends by time, so that it '
        + 'belongs to one period', 'write epoch: { every: 1h }');
    }
    if (epoch.everyMs > per) {
      throw this.#refused('admission.tokens.per', `${per}ms`, 'a period is shorter than an epoch, '
        + 'so that some tokens would be of no use', 'give per: a duration of at least epoch.every');
    }
    return {
      kind: 'tokens', issuer, fromMs: from, perMs: per, keys: keys.map((id) => id.toLowerCase()),
    };
  }

  #issuer(text: string): string {
    try {
      checkPublicKey(fromHex(text));
    } catch (error) {
      if (!(error instanceof KeelsonError)) throw error;
      throw this.#refused('admission.enrolment.issuer', text, `cannot be used: ${error.message}`,
        'make an issuing key with "keelson keys enrol"');
    }
    return text.toLowerCase();
  }

  #keysIn(file: string): ReadonlySet<string> {
    const { readText } = this.options;
    if (readText === undefined) {
      throw this.#refused(
        'admission.contributorKeys', file, 'files cannot be read here', 'write admission: open',
      );
    }
    let text: string;
    try {
      text = readText(file);
    } catch (cause) {
      throw studyError(this.options.name, {
        path: 'admission.contributorKeys', value: shown(file),
          line: this.#line('admission.contributorKeys'),
        rule: `the file cannot be read (${cause instanceof KeelsonError ? cause.message : codeOf(cause)})`,
        remedy: 'name it relative to the study file',
      }, cause);
    }
    return parseKeyList(text, file);
  }

  readonly #refuse = (path: string, rule: string, remedy: string): KeelsonError =>
    this.#refused(path, undefined, rule, remedy);

  #refused(at: string, value: unknown, rule: string, remedy: string): KeelsonError {
    const path = this.#placeOf(at);
    return studyError(this.options.name, {
      path, rule, remedy, line: this.#line(path),
      ...(value !== undefined && { value: shown(value) }),
    });
  }

  #line(path: string): number | undefined {
    return this.file.lineOf(path.split('.'));
  }
}

/**
 * Errors of the conversions name the number, not the key. The number is the one of the release's
 * statement, or of the budget, which may be in the populations file.
 */
function pathOfPrivacy({ details }: InvalidParameterError, { privacy, budget }: StudyFile): string {
  const name = (['epsilon', 'delta'] as const).find((candidate) => candidate in details);
  if (name === undefined) return 'privacy';
  if (details[name] === privacy[name]) return `privacy.${name}`;
  return budget.population === undefined ? `budget.${name}` : 'budget.population';
}
