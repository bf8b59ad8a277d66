import type { StudyDefinition } from '../../server/studies/definition.js';
import { formatNumber } from '../base/output.js';
import type { Score, Shown } from './scoreboard.js';

/** The facts of a run that its story is about. */
export interface StoryFacts {
  readonly address: string;
  readonly operatorToken: string;
  readonly studies: readonly StudyDefinition[];
  /** Address of each study's page, by the study's name. */
  readonly pages: ReadonlyMap<string, string>;
  readonly contributors: number;
  readonly corruption: number;
  readonly attack: string;
}

const inMinutes = (value: number | undefined): string => value!.toFixed(2).padStart(7);

/** The question, the people who answer it, and those who lie: before anything is known. */
export function askedLines({ contributors, corruption, attack }: StoryFacts): readonly string[] {
  const hostile = Math.round(corruption * contributors);
  return [
    'How late are flights, and how far do they go?',
    `${contributors} people each send 8 of their flights, and nobody may learn whose they are.`,
    hostile === 0 ? 'Nobody lies.' : `${hostile} of them lie together (${attack}).`,
  ];
}

/** The first answers beside the truth, which only the demonstration knows, and where to look. */
export function storyLines(facts: StoryFacts, shown: readonly Shown[]): readonly string[] {
  const { address, operatorToken, studies, pages, corruption } = facts;
  const scores = shown.filter((each): each is Score => !('answers' in each));
  const [first] = scores;
  if (first === undefined) return [];
  const robust = new Set(studies.filter(({ questions: [{ plan }] }) =>
    plan.guarantee.corruptionMax > 0).map(({ document }) => document.study));
  const isRobust = ({ study }: Score): boolean => robust.has(study);
  const page = pages.get(scores.find(isRobust)?.study ?? '');
  return [
    'In short, how many minutes a flight is late:',
    `${inMinutes(first.truth[0])}  the honest people; only this demonstration knows it`,
    `${inMinutes(first.naive[0])}  the plain mean of all that was sent`,
    ...scores.flatMap((score) => answerLines(score, isRobust(score), corruption)),
    ...(page === undefined ? [] : ['look at it:', `  ${page}`]),
    'look behind it, as the operator:',
    `  ${address}/operator`,
    `  with the token in ${operatorToken}`,
  ];
}

function answerLines(
  { study, estimate, intervals }: Score, isRobust: boolean, corruption: number,
): readonly string[] {
  if (estimate === null) return [`${'-'.padStart(7)}  ${study}: no answer this time`];
  const lies = isRobust ? ', and holds the lies off' : ', and believes the lies';
  const ends = isRobust ? intervals[0] : null;
  return [
    `${inMinutes(estimate[0])}  ${study}: is private${corruption > 0 ? lies : ''}`,
    ...(ends?.every(Number.isFinite) === true
      ? [`${' '.repeat(9)}95 % interval, also if ${formatNumber(100 * corruption)} % lie: ${
        ends[0].toFixed(1)} to ${ends[1].toFixed(1)}`] : []),
  ];
}
