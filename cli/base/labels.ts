import {
  describedQuestion, describeNumbers, type Described,
} from '../../src/answers/describe.js';
import { labelsOf as labelsOfNumbers } from '../../src/answers/words.js';
import type { StudyDocument } from '../../src/wire/study-document.js';

/**
 * The name of each number in the answer to a question, or in each key of a split one. The question
 * may come from a server, which may be wrong or newer: the columns are used then.
 */
export function labelsOf(asked: Described): readonly string[] {
  return labelsOfNumbers(describeNumbers(asked));
}

/** The names of the numbers of each question's answer, or of each key of a split one. */
export function labelsOfEach(document: StudyDocument): (question: string) => readonly string[] {
  const labels = new Map(document.questions.map((question) =>
    [question.name, labelsOf(describedQuestion(question, document))]));
  return (question) => labels.get(question) ?? [];
}
