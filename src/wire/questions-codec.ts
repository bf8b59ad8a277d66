import { factsLimits } from '../base/facts-limits.js';
import { questionsFault, type TypedColumns } from '../base/question-rules.js';
import {
  questionLimits as limits, type Discovery, type GroupBy, type Question, type RowTest,
  type TestValue,
} from '../base/questions.js';
import { checkName, readObject, readParameter, refused, type Members } from './members.js';

/** The longest text of a test or key: no column holds a longer one. */
const textMax = 255;

/**
 * Reads the list of questions in the facts of a study. Each has exactly the members of `Question`,
 * so there is one form of it. It is in a file of its own: a page that only contributes does not
 * load it.
 * @throws WireError('malformed') with the place and the rule that it breaks.
 */
export function readQuestions(
  facts: Members, columns: TypedColumns,
): readonly Question[] {
  const questions = facts.list('questions', limits.questions)
    .map((value, i) => readObject(value, `facts.questions[${i}]`, readQuestion));
  const fault = questionsFault(questions, columns);
  if (fault === null) return questions;
  throw refused(`facts.${fault.path}`, `usable: it ${fault.rule}; ${fault.remedy}`);
}

function readQuestion(question: Members): Question {
  return {
    name: question.text('name'),
    estimator: question.text('estimator'),
    parameters: question.map('parameters', readParameter),
    columns: readNames(question, 'columns'),
    where: question.list('where', limits.tests)
      .map((test, i) => readObject(test, `${question.path}.where[${i}]`, readTest)),
    ...(question.has('by') && { by: question.object('by', readBy) }),
    reduce: question.choice('reduce', ['mean', 'sum', 'one']),
    part: question.integer('part', 1, 100),
  };
}

function readNames(members: Members, name: string): readonly string[] {
  return members.list(name, factsLimits.columns)
    .map((each, i) => checkName(each, `${members.path}.${name}[${i}]`));
}

function readTest(test: Members): RowTest {
  return { column: test.text('column'), ...readCondition(test) } as RowTest;
}

/** The one condition of a test. A second one is left over, and refused. */
function readCondition(test: Members): object {
  if (test.has('is')) return { is: readValue(test.take('is'), `${test.path}.is`) };
  if (test.has('not')) return { not: readValue(test.take('not'), `${test.path}.not`) };
  if (test.has('in')) {
    return { in: test.list('in', limits.values).map((value) => readValue(value, `${test.path}.in`)) };
  }
  if (test.has('present')) return { present: test.choice('present', [true, false]) };
  const [name] = (['atLeast', 'below'] as const).filter((each) => test.has(each));
  if (name === undefined) {
    throw refused(test.path, 'a test with is, not, in, atLeast, below or present');
  }
  return { [name]: test.number(name, () => true, 'a finite number') };
}

function readValue(value: unknown, path: string): TestValue {
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
      || (typeof value === 'string' && value.length <= textMax)) {
    return value;
  }
  throw refused(path, 'a number, true, false or a text');
}

function readBy(by: Members): GroupBy {
  return {
    columns: readNames(by, 'columns'),
    groupsMax: by.integer('groupsMax', 1, limits.keys),
    ...(by.has('groups') && {
      groups: by.list('groups', limits.keys).map((key, i) => readKey(key, `${by.path}.groups[${i}]`)),
    }),
    ...(by.has('discover') && { discover: by.object('discover', readDiscovery) }),
  };
}

function readKey(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value) && value.length <= limits.byColumns) {
    return value.map((part: unknown) => {
      if (typeof part === 'string' && part.length <= textMax) return part;
      throw refused(path, 'a list of texts');
    });
  }
  throw refused(path, `a list of at most ${limits.byColumns} texts`);
}

function readDiscovery(discovery: Members): Discovery {
  return {
    ...(discovery.has('answer') && { answer: discovery.choice('answer', ['groups']) }),
    prefilter: discovery.integer('prefilter', 1, limits.prefilter),
    ...(discovery.has('remember') && {
      remember: discovery.integer('remember', 1, limits.keys),
    }),
    top: discovery.integer('top', 1, limits.keys),
  };
}
