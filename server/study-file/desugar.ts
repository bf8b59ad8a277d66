import { needsQuestions } from '../../src/base/columns.js';
import { onlyQuestion } from '../../src/base/questions.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { Refuse } from './columns.js';
import type { FileQuestion } from './questions-schema.js';
import type { StudyFile } from './schema.js';

/** The questions of a study file, in whichever form it has them. */
export interface FileQuestions extends Pick<StudyDocument, 'wireForm'> {
  readonly questions: Readonly<Record<string, FileQuestion>>;
  /** The place in the file of a path that begins with `questions`. */
  readonly placeOf: (path: string) => string;
}

/**
 * A file with `estimator: X` asks one question about all columns, as if it had
 * `questions: { answer: { estimator: X } }`. Its facts are in the short form, so that its id does
 * not depend on the version of this program, unless a column is optional: those facts list it.
 * @throws the error of `refuse`, for a file that asks nothing, or in both ways.
 */
export function questionsOfFile(
  { estimator, parameters, questions }: StudyFile,
  columns: Pick<StudyDocument, 'columns' | 'types'>, refuse: Refuse,
): FileQuestions {
  if (questions !== undefined) {
    const stray = estimator !== undefined ? 'estimator'
      : parameters !== undefined ? 'parameters' : undefined;
    if (stray === undefined) return { questions, placeOf: (path) => path };
    throw refuse(stray, 'is given beside questions', 'write it in a question');
  }
  if (estimator === undefined) {
    throw refuse('estimator', 'is missing', 'give the name of one, or several questions');
  }
  refuseTexts(columns, refuse);
  return {
    questions: {
      [onlyQuestion]: {
        estimator, parameters: parameters ?? {}, columns: [...columns.columns], where: {},
      },
    },
    ...(!needsQuestions(columns.types) && { wireForm: 'short' }),
    placeOf: placeInFile,
  };
}

function placeInFile(path: string): string {
  const [questions, name, ...rest] = path.split('.');
  if (questions !== 'questions' || name !== onlyQuestion) return path;
  if (rest.length === 0) return 'estimator';
  return rest[0] === 'reduce' ? 'contribution.reduce' : rest.join('.');
}

/** No estimator works with a text, so a question about all columns cannot have one. */
function refuseTexts(
  { columns, types = [] }: Pick<StudyDocument, 'columns' | 'types'>, refuse: Refuse,
): void {
  const place = types.findIndex(({ type }) => type === 'text');
  if (place < 0) return;
  throw refuse(`columns.${columns[place]}`, 'is a text, which only a question uses, in by or where',
    'write questions, or list its values with type: category');
}
