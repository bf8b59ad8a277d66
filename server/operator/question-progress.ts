import type { Outcome } from '../../src/base/outcome.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import type { StudyHub, StudyView } from '../studies/contract.js';

/** One question of a study, for the operator's page. All of it is public. */
export interface QuestionProgress {
  readonly name: string;
  readonly estimator: string;
  /** The question's part of the study's privacy cost, in whole per cent. */
  readonly part: number;
  /**
   * The outcome in the newest release: `value`, or the reason of a refusal; null before the first
   * release.
   */
  readonly last: string | null;
}

/** The questions of a study, in its order. */
export async function questionProgress(
  hub: Pick<StudyHub, 'releases'>, { studyId, document, releaseCount }: StudyView,
): Promise<readonly QuestionProgress[]> {
  const [newest] = releaseCount === 0 ? [] : await hub.releases(studyId, releaseCount - 1, 1);
  const outcomes = new Map(newest === undefined ? [] : decodeReleaseBody(newest.body).answers
    .map(({ question, outcome }) => [question, outcome]));
  return document.questions.map(({ name, estimator, part }) =>
    ({ name, estimator, part, last: lastOf(outcomes.get(name)) }));
}

function lastOf(outcome: Outcome | undefined): string | null {
  if (outcome === undefined) return null;
  return outcome.kind === 'value' ? 'value' : outcome.reason;
}
