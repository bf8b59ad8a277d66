import type { StudyDefinition } from '../../server/studies/definition.js';
import { parseStudyText } from '../../server/study-file/index.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { Flights } from '../data/flights.js';

/**
 * One unit of delay and distance. It is public knowledge and does not come from these flights: the
 * mean of eight flights is rarely more than twenty minutes or three hundred miles from the usual
 * mean.
 */
export const demoSpread = [20, 300] as const;

/** The study of the demonstration that asks several questions of one contribution. */
export const questionsStudy = 'flights-ten';

/** A flight is late from this many minutes on. */
const lateMinutes = 15;
/** Parts of the day. Each begins when the one before ends. */
const parts = ['morning', 'afternoon', 'evening'] as const;
/** Hours at which the afternoon and the evening begin. */
const [noon, evening] = [12, 18];

const columns = {
  delay_minutes: { type: 'number', label: 'delay', unit: 'minutes' },
  distance_miles: { type: 'number', label: 'distance', unit: 'miles' },
  part: { type: 'category', of: parts, label: 'part of the day' },
  late: { type: 'boolean', label: 'late flight' },
} as const;

const delay = { columns: ['delay_minutes'] } as const;
/** A person counts in at most two parts of the day. More parts would need more noise. */
const byPart = { by: { column: 'part', groupsMax: 2 } } as const;
/** Public bounds of the mean delay of eight flights. */
const [delayLow, delayHigh] = [-60, 180];
const delayRange = `${delayLow}..${delayHigh}`;
/** Public bound of the miles that a person flies with eight flights. */
const milesCap = 12_000;

/** The unit of an attack's strength in each column, as in the other studies. */
export const questionsSpread: readonly number[] = [...demoSpread, 1, 1];

/** A question of the demonstration, and its description in the first lines of the output. */
interface Asked {
  readonly about: string;
  /** As in a study file. */
  readonly question: Readonly<Record<string, unknown>>;
  /** The unit of the plan's error, in the units of the answer. */
  readonly errorUnit: (cohort: number) => number;
}

const ofPeople = (cohort: number): number => cohort;
const ofShares = (): number => 0.5;
const ofHalfTheRange = (): number => (delayHigh - delayLow) / 2;

const askedWith = (corruption: number): Readonly<Record<string, Asked>> => ({
  'late-people': {
    about: `people with a flight that is ${lateMinutes} minutes late or more`,
    question: { estimator: 'count', where: { late: true } },
    errorUnit: ofPeople,
  },
  'late-share': {
    about: 'share of late flights',
    question: { estimator: 'share', columns: ['late'], reduce: 'one' },
    errorUnit: ofShares,
  },
  'mean-delay': {
    about: 'mean delay in minutes',
    question: { estimator: 'mean', ...delay, parameters: { range: delayRange } },
    errorUnit: ofHalfTheRange,
  },
  'robust-delay': {
    about: 'the same, robust against the liars',
    question: {
      estimator: 'robust-mean', ...delay, part: 40,
      parameters: { spread: demoSpread[0], range: delayRange, corruption },
    },
    errorUnit: () => demoSpread[0],
  },
  'middle-delay': {
    about: 'half of the people have a smaller mean delay',
    question: {
      estimator: 'quantile', ...delay, part: 10,
      parameters: { probabilities: [0.5], range: `${delayLow}..${delayHigh}` },
    },
    errorUnit: () => delayHigh - delayLow,
  },
  'total-miles': {
    about: 'miles that all people fly together',
    question: {
      estimator: 'sum', columns: ['distance_miles'], reduce: 'sum', parameters: { cap: milesCap },
    },
    errorUnit: (cohort) => cohort * milesCap,
  },
  'people-by-part': {
    about: `people in ${parts.join(', ')}; each in two at most`,
    question: { estimator: 'count', ...byPart },
    errorUnit: ofPeople,
  },
  'late-by-part': {
    about: 'people with a late flight, by part of the day',
    question: { estimator: 'count', where: { late: true }, ...byPart },
    errorUnit: ofPeople,
  },
  'delay-by-part': {
    about: 'mean delay in minutes, by part of the day',
    question: { estimator: 'mean', ...delay, ...byPart, parameters: { range: delayRange } },
    errorUnit: ofHalfTheRange,
  },
  distances: {
    about: 'people by miles of a mean flight: below 400, 600, 800, more',
    question: {
      estimator: 'histogram', columns: ['distance_miles'], parameters: { edges: [400, 600, 800] },
    },
    errorUnit: ofPeople,
  },
});

/** The description of each question, by its name. */
export const aboutQuestions: Readonly<Record<string, string>> =
  Object.fromEntries(Object.entries(askedWith(0)).map(([name, { about }]) => [name, about]));

/**
 * For each question the error that its plan expects, in the units of its answer: the root mean
 * square over the numbers of the answer.
 * @param corruption - fraction of people who may do the worst that each question allows.
 */
export function plannedErrors(
  { document: { cohort }, questions }: StudyDefinition, corruption: number,
): readonly number[] {
  const asked = askedWith(0);
  return questions.map(({ question, plan }) => {
    const numbers = plan.outputShape.reduce((product, length) => product * length, 1);
    return plan.expectedError(corruption).total / Math.sqrt(numbers)
      * asked[question.name]!.errorUnit(cohort);
  });
}

/** The public facts that the study shares with the others of the demonstration. */
export type SharedFacts = Pick<StudyDocument, 'cohort' | 'privacy'> & {
  readonly everyMs: number;
  readonly rowsMax: number;
  readonly budget: Pick<StudyDocument['budget'], 'epsilon' | 'delta' | 'perMs'>;
  /** Corruption that the robust answer is planned for. */
  readonly corruption: number;
};

/**
 * The study with ten questions. One contribution of a person answers all of them, and the epsilon
 * of a release bounds all ten answers together.
 * @throws KeelsonError('plan-infeasible') for too few people.
 */
export function questionsDefinition(facts: SharedFacts): StudyDefinition {
  const { cohort, privacy, everyMs, rowsMax, corruption } = facts;
  const { perMs, ...budget } = facts.budget;
  const questions = Object.entries(askedWith(corruption))
    .map(([name, { question }]) => [name, question]);
  // A study file is YAML, and JSON is YAML.
  const text = JSON.stringify({
    study: questionsStudy, title: 'Ten questions about the same flights',
    columns, cohort, participation: 'secret',
    epoch: { every: `${everyMs}ms` },
    contribution: { rowsMax },
    questions: Object.fromEntries(questions) as unknown,
    privacy,
    budget: { ...budget, scope: 'study', ...(perMs !== undefined && { per: `${perMs}ms` }) },
    late: 'drop',
    retention: 'release',
  });
  return parseStudyText(text, { name: questionsStudy });
}

/** The flights as rows of this study, row-major. */
export function questionsRows({ count, columns: flights }: Flights): {
  readonly values: Float64Array; readonly columns: number;
} {
  const { length } = Object.keys(columns);
  const values = new Float64Array(length * count);
  for (let i = 0; i < count; i++) {
    const minutes = flights.delay[i]!;
    const hour = flights.time[i]!;
    const part = hour < noon ? 0 : hour < evening ? 1 : 2;
    const isLate = minutes >= lateMinutes;
    values.set([minutes, flights.distance[i]!, part, isLate ? 1 : 0], length * i);
  }
  return { values, columns: length };
}
