import { InvalidParameterError } from '../../base/errors.js';
import type { StudyFacts } from '../../estimators/contract/estimator.js';
import {
  choiceOf, numberOf, numbersOf, optionalNumberOf,
} from '../../estimators/contract/values.js';
import { columnOf } from '../../estimators/counts/tables/common.js';
import {
  sealedCells, sealedGrid, sharePlanOf, type SharedQuestion,
} from '../shares/share-plan.js';
import type { SealedProgram } from './contract.js';
import { sealedCount, sealedCounts, sealedHistogram, sealedQuantile } from './counts.js';
import { sealedMean } from './mean.js';
import { sealedRobustMean } from './robust-mean.js';

type MakeProgram = (facts: StudyFacts, question: SharedQuestion) => SealedProgram;

/** The estimators that have a program over sealed rows. */
const programs: Readonly<Record<string, MakeProgram>> = {
  count,
  histogram: (facts, { parameters, isPartial = false }) => sealedHistogram(facts, {
    column: columnOf(parameters, facts.dimension), edges: numbersOf(parameters, 'edges'),
    isPartial,
  }),
  quantile: (facts, question) => sealedQuantile(facts, {
    column: columnOf(question.parameters, facts.dimension), ...sealedCells(question),
    probabilities: numbersOf(question.parameters, 'probabilities'),
    isPartial: question.isPartial === true,
  }),
  mean: (facts, question) => sealedMean(facts, {
    grid: sealedGrid(question), isPartial: question.isPartial === true, ...radiusOf(question),
  }),
  'robust-mean': robustMean,
};

/** Split by keys, a row begins with the place of its key. */
function count(facts: StudyFacts, { parameters, keys }: SharedQuestion): SealedProgram {
  const from = Number(keys !== undefined);
  const threshold = optionalNumberOf(parameters, 'threshold');
  const isCounted = threshold === undefined ? () => true
    : isOnSide(threshold, choiceOf(parameters, 'side') === 'below',
      from + columnOf(parameters, facts.dimension - from));
  if (keys === undefined) return sealedCount(facts, isCounted);
  return sealedCounts(facts, keys, (row) => (isCounted(row) ? row[0]! : null));
}

function isOnSide(
  threshold: number, isBelow: boolean, column: number,
): (row: ArrayLike<number>) => boolean {
  return (row) => row[column]! < threshold === isBelow;
}

function robustMean(facts: StudyFacts, question: SharedQuestion): SealedProgram {
  const { parameters } = question;
  if (choiceOf(parameters, 'shape') !== 'light') {
    throw new InvalidParameterError(
      'a sealed robust-mean is for honest rows that are about normal: write shape: light, or '
        + 'choose mean', { path: 'parameters.shape' },
    );
  }
  // The range is that of the rows, and events share the budget as they do by default.
  for (const name of ['range', 'centre-part', 'final-part']) {
    if (parameters[name] !== undefined) {
      throw new InvalidParameterError(
        `a sealed robust-mean takes no ${name}: leave it out`, { path: `parameters.${name}` },
      );
    }
  }
  const [rounds, axes] = ['rounds', 'axes'].map((name) => optionalNumberOf(parameters, name));
  return sealedRobustMean(facts, {
    grid: sealedGrid(question), isPartial: question.isPartial === true,
    corruption: numberOf(parameters, 'corruption'),
    ...radiusOf(question),
    ...(rounds !== undefined && { rounds }), ...(axes !== undefined && { axes }),
  });
}

function radiusOf({ parameters }: SharedQuestion): { readonly radius?: number } {
  const radius = optionalNumberOf(parameters, 'radius');
  return radius === undefined ? {} : { radius };
}

/** Names of the estimators that can be asked of sealed rows. */
export const sealedEstimators: readonly string[] = Object.keys(programs);

/**
 * The program of a sealed study, from its facts alone. All three servers make the same one.
 * @throws InvalidParameterError with the remedy when there is none for this estimator or these
 *   facts.
 * @example
 * sealedProgramOf(facts, { estimator: 'count', parameters: {}, columns: 1, sealed: { bits: 16 } });
 */
export function sealedProgramOf(facts: StudyFacts, question: SharedQuestion): SealedProgram {
  const make = Object.hasOwn(programs, question.estimator)
    ? programs[question.estimator] : undefined;
  if (make === undefined) {
    throw new InvalidParameterError(
      `${question.estimator} cannot be asked of sealed rows: choose one of `
        + `${sealedEstimators.join(', ')}`, { path: 'estimator' },
    );
  }
  // Its refusals are about the study file; a program's are about its own options.
  checkKeys(facts);
  sharePlanOf(question);
  return make(facts, question);
}

/**
 * A contributor has one row in each question, so it counts in one group, and the groups are public.
 * @throws InvalidParameterError for more.
 */
function checkKeys({ keys }: StudyFacts): void {
  if (keys === undefined) return;
  if (keys.list === 'discovered') {
    throw new InvalidParameterError(
      'groups cannot be discovered among sealed rows: list them in by.groups',
      { path: 'by.discover' },
    );
  }
  if (keys.groupsMax <= 1) return;
  throw new InvalidParameterError(
    `a contributor to a sealed study counts under one group, and groupsMax is ${keys.groupsMax}: `
      + 'write groupsMax: 1', { path: 'by.groupsMax' },
  );
}
