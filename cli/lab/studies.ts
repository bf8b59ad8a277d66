import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import { answersAreRows, answersColumns } from '../../server/studies/keep/own-rows.js';
import { toHex } from '../../src/base/bytes.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import type { Signer } from '../../src/signing/index.js';
import {
  ofShortFacts, type SharedFacts, type StudyDocument,
} from '../../src/wire/study-document.js';
import { EpochRows, type EpochPeople } from './baselines.js';
import type { LabData } from './data.js';
import {
  keyedQuestion, KeyedPeople, keyedRowsMax, keyedStudies, keyedStudyOf, keyedTypes,
} from './keyed.js';

/** Facts that all studies of a lab have in common. */
export interface LabFacts {
  readonly data: LabData;
  readonly contributors: number;
  readonly epochMs: number;
  /** For each release, at delta 1e-6. */
  readonly epsilon: number;
  /** Corruption that robust estimators are planned for. */
  readonly promise: number;
  /**
   * If present, studies admit by enrolment, with tokens of this issuer. Absent: admission is open.
   */
  readonly issuer?: Signer;
}

/** The number of people that a lab can have. */
export const labPeople = { atLeast: 100, atMost: 100_000 } as const;

/** Enough for weeks of epochs: the lab is about attacks and not about budgets. */
const budget = { epsilon: 100, delta: 1e-4, rule: 'zcdp', scope: 'study' } as const;

/** The estimators that a lab compares by default. */
export function usualEstimators({ isKeyed }: LabData): readonly string[] {
  return isKeyed === true ? keyedStudies.map(({ name }) => name)
    : ['mean', 'populous-mean', 'robust-mean'];
}

/** The lab's name for the estimator of one of its studies. */
export function labNameOf({ study }: StudyDocument): string {
  return study.slice(namePrefix.length);
}

/** Collects the people of one epoch of a study. */
export function peopleOf(document: StudyDocument, { spread, isKeyed }: LabData): EpochPeople {
  return isKeyed === true
    ? new KeyedPeople(keyedStudyOf(labNameOf(document))!) : new EpochRows(spread);
}

/**
 * One study per estimator. Everything else is the same.
 * @throws KeelsonError('plan-infeasible') if some estimator cannot answer for so few people;
 *   InvalidParameterError for an unknown estimator, or one whose answers are not means.
 */
export function labStudies(
  facts: LabFacts, estimators: readonly string[],
): readonly StudyDefinition[] {
  return estimators.map((name) => (facts.data.isKeyed === true
    ? keyedLabStudy(facts, name) : labStudy(facts, findEstimator(name))));
}

/** @throws InvalidParameterError for a study that the lab does not have. */
function keyedLabStudy(facts: LabFacts, name: string): StudyDefinition {
  const study = keyedStudyOf(name);
  if (study === undefined) {
    throw new InvalidParameterError(`${facts.data.name} has answers by key, and none is called `
      + `${name}: use ${keyedStudies.map((each) => each.name).join(', ')}`);
  }
  return defineStudy({
    ...sharedFacts(facts, name), version: 2, types: keyedTypes,
    contribution: { rowsMax: keyedRowsMax },
    questions: [keyedQuestion(study, findEstimator(study.estimator), facts.promise)],
  });
}

function labStudy(facts: LabFacts, estimator: Estimator): StudyDefinition {
  const { name } = estimator;
  if (!answersColumns({ estimator: name, parameters: {}, columns: facts.data.columns })) {
    throw notAMean(name);
  }
  let definition: StudyDefinition;
  try {
    definition = defineStudy(documentOf(facts, estimator));
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    throw new InvalidParameterError(error.details['path'] === 'parameters.corruption'
      ? `${error.message}; lower --corruption, or leave ${name} out`
      : `the lab gives ${name} a spread and a corruption, and that is not enough: `
        + `${error.message}; ${remedy}`);
  }
  const { plan } = definition.questions[0];
  const isInSpreads = plan.facts['errorsAreIn'] === undefined;
  if (!answersAreRows(definition)) throw notAMean(name);
  if (!isInSpreads) throw notAMean(name, 'not a mean');
  return definition;
}

const remedy = 'leave it out, or choose a mean such as mean, robust-mean or populous-mean';

function notAMean(name: string, what = 'not one number for each column'): InvalidParameterError {
  return new InvalidParameterError(
    `the lab compares means, and an answer of ${name} is ${what}: ${remedy}`,
  );
}

function documentOf(facts: LabFacts, { name, parameters }: Estimator): StudyDocument {
  const { data, promise } = facts;
  const given = {
    ...(parameters.some((spec) => spec.name === 'spread') && { spread: [...data.spread] }),
    ...(parameters.some((spec) => spec.name === 'corruption') && { corruption: promise }),
  };
  return ofShortFacts({
    ...sharedFacts(facts, name),
    version: 1,
    contribution: { reduce: 'mean', rowsMax: data.rows },
    estimator: name,
    parameters: parseParameters(parameters, given, { dimension: data.columns.length }),
  });
}

const namePrefix = 'lab-';

function sharedFacts(
  { data, contributors, epochMs, epsilon, issuer }: LabFacts, name: string,
): Omit<SharedFacts, 'version'> {
  return {
    study: `${namePrefix}${name}`,
    columns: [...data.columns],
    cohort: contributors,
    participation: 'secret',
    epoch: { everyMs: epochMs },
    privacy: { epsilon, delta: 1e-6 },
    budget,
    admission: issuer === undefined
      ? { kind: 'open' } : { kind: 'enrolment', issuer: toHex(issuer.publicKey) },
    // A late row would count in the next round without the lab's knowledge.
    late: 'drop',
    retention: { kind: 'release' },
  };
}
