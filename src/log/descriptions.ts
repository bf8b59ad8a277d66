import { describedQuestions, numbersByFacts } from '../answers/describe.js';
import type { ReleaseBody } from '../wire/messages.js';
import { contradiction } from '../wire/numbers-body.js';
import type { StudyDocument } from '../wire/study-document.js';
import { LogError } from './faults.js';

/**
 * Checks that a release describes its numbers as the facts of its study do.
 *
 * The server that signed may be older or newer than this reader, and one of the two may know more.
 * So a description that states less or more contradicts nothing, and neither do numbers that this
 * reader cannot explain. In return no version changes what an earlier one stated of the same facts:
 * it may only add to it. Otherwise it would call valid logs invalid.
 * @throws LogError('description-mismatch') where both state something, and it differs.
 */
export function checkDescriptions(document: StudyDocument, release: ReleaseBody): void {
  describedQuestions(document).forEach((asked, i) => {
    const { question, outcome } = release.answers[i]!;
    if (outcome.kind === 'refused') return;
    const fault = contradiction(outcome.numbers ?? [], numbersByFacts(asked, outcome));
    if (fault === null) return;
    throw new LogError(
      'description-mismatch', `release ${release.index}, question ${question}, does not describe `
        + `its numbers as the facts do: ${fault}`, { index: release.index },
    );
  });
}
