import {
  numberColumns, yamlText, type Answers, type AskedParts, type KeyedQuestion,
} from './questions.js';
import { corruption, corruptionRemark, spreadOf } from './spread.js';

/** The study files that have a list of questions. */

/** Bytes of a text that is on no list: the length of most names of things. */
const textBytes = 64;
const keysShown = 50;
/** A person counts once in this many epochs: in a month of days. */
const separation = 30;

/** One question: its comments, and its lines below `questions`. */
interface Asked {
  readonly name: string;
  readonly remarks: readonly string[];
  readonly lines: readonly string[];
}

/** @param answers with `by`, and with the columns, ranges and keys that the question needs. */
export function keyedParts(question: KeyedQuestion, answers: Answers): AskedParts {
  const asked = questionsOf(question, answers);
  const several = asked.length > 1;
  const isRunning = question === 'running-total';
  return {
    columns: columnsText(answers),
    asked: `\
# A person may send this many rows in an epoch.
contribution: { rowsMax: ${answers.servers === null ? 64 : 1} }

# What is asked. ${several ? 'All questions share the privacy below.' : 'You may add more questions.'}
# groupsMax: a person counts for this many names at most. More names need more noise.
questions:
${asked.map(({ remarks, lines }) => [
    ...remarks.map((remark) => `  # ${remark}`), ...lines.map((line) => `  ${line}`),
  ].join('\n')).join('\n')}
${isRunning ? runningText(asked) : ''}`,
  };
}

function runningText(asked: readonly Asked[]): string {
  return `
# Each release states totals over all epochs so far, with little more noise than one epoch has.
# separation: a person counts in one of any ${separation} successive epochs, and not in the others. A
# larger one gives less noise. keelson verify LOG --totals --window 7 adds up the newest 7 epochs.
running: { separation: ${separation}, questions: [${asked.map(({ name }) => name).join(', ')}] }
`;
}

function columnsText(answers: Answers): string {
  const { columns, by, keys, optional } = answers;
  const names = by.map((column, i) => {
    const some = optional.includes(column) ? ', optional: true' : '';
    return `  ${yamlText(column)}: ${keys === null ? `{ type: text, bytes: ${textBytes}${some} }`
      : `{ type: category, of: [${keys[i]!.map(yamlText).join(', ')}], other: true${some} }`}`;
  });
  const remarks = [
    '# What a row holds.',
    ...(columns.length === 0 ? [] : [
      '# Values beyond low and high count as at that end. label: and unit: say what pages write.',
    ]),
    keys === null ? `# A text has at most ${textBytes} bytes of UTF-8.`
      : '# Any name that is not listed counts as other.',
    ...(optional.length === 0 ? []
      : ['# A row without an optional value does not count in questions about that column.']),
  ];
  return `${remarks.join('\n')}
columns:
${[...numberColumns(answers), ...names].join('\n')}
`;
}

function questionsOf(question: KeyedQuestion, answers: Answers): readonly Asked[] {
  switch (question) {
    case 'count-by-group':
    case 'running-total': return [people(answers)];
    case 'mean-by-group': return [means(answers)];
    case 'median-by-group': return [medians(answers)];
    case 'unknown-groups': return [unknown(answers)];
    case 'several': return answers.servers === null
      ? [people(answers), medians(answers), mean(answers), spread(answers)]
      : [people(answers), sealedMean(answers), quartiles(answers)];
  }
}

/** The key `by`. */
function byText({ by }: Answers, more = ''): string {
  const names = by.map(yamlText).join(', ');
  return `by: { ${by.length === 1 ? `column: ${names}` : `columns: [${names}]`}, groupsMax: 1${
    more} }`;
}

function people(answers: Answers): Asked {
  return {
    name: 'people',
    remarks: ['The number of people under each name.'],
    lines: [`people: { estimator: count, ${byText(answers)} }`],
  };
}

function unknown(answers: Answers): Asked {
  return {
    name: 'people',
    remarks: [
      'The names are found among those that people send. A name of few people is not shown.',
      `At most ${keysShown} names are shown, those with the most people.`,
    ],
    lines: [
      'people:',
      '  estimator: count',
      `  ${byText(answers, `, discover: true, top: ${keysShown}`)}`,
    ],
  };
}

/** A question about a column within its range, for each name. */
function ofColumn(answers: Answers, asked: {
  readonly name: string; readonly estimator: string; readonly remarks: readonly string[];
  readonly more?: string;
}): Asked {
  const { columns, ranges } = answers;
  const { low, high } = ranges![0]!;
  const { name, estimator, remarks, more = '' } = asked;
  return {
    name, remarks,
    lines: [
      `${name}:`,
      `  estimator: ${estimator}`,
      `  columns: [${yamlText(columns[0]!)}]`,
      `  ${byText(answers)}`,
      `  parameters: { ${more}range: ${low}..${high} }`,
    ],
  };
}

const means = (answers: Answers): Asked => ofColumn(answers, {
  name: 'means', estimator: 'mean',
  remarks: [
    'The mean for each name. Values beyond the range count as at its nearer end, and false rows',
    'can move a mean within it. With estimator: median they move the answer less.',
  ],
});

const medians = (answers: Answers): Asked => ofColumn(answers, {
  name: 'medians', estimator: 'quantile', more: 'probabilities: [0.5], ',
  remarks: [
    'The median for each name. A name has no answer where a noisy count says that it has too few',
    'people.',
  ],
});

function mean({ columns, ranges }: Answers): Asked {
  const spread = spreadOf(ranges);
  return {
    name: 'mean',
    remarks: ['The mean of everybody.', ...spread.remarks, corruptionRemark],
    lines: [
      'mean:',
      '  estimator: robust-mean',
      `  columns: [${yamlText(columns[0]!)}]`,
      `  parameters: { spread: ${spread.text}, corruption: ${corruption} }`,
    ],
  };
}

/** Three servers that see no row find the mean within the range of the column. */
function sealedMean({ columns, ranges }: Answers): Asked {
  const spread = spreadOf(ranges);
  return {
    name: 'mean',
    remarks: ['The mean of everybody.', ...spread.remarks],
    lines: [
      'mean:',
      '  estimator: mean',
      `  columns: [${yamlText(columns[0]!)}]`,
      `  parameters: { spread: ${spread.text} }`,
    ],
  };
}

function quartiles({ columns, ranges }: Answers): Asked {
  const { low, high } = ranges![0]!;
  return {
    name: 'quartiles',
    remarks: ['Half of the people are below the second of these numbers.'],
    lines: [
      'quartiles:',
      '  estimator: quantile',
      `  columns: [${yamlText(columns[0]!)}]`,
      `  parameters: { probabilities: [0.25, 0.5, 0.75], range: ${low}..${high} }`,
    ],
  };
}

function spread({ columns }: Answers): Asked {
  return {
    name: 'spread',
    remarks: ['How the values are spread, and any quantile of it.'],
    lines: [`spread: { estimator: distribution, columns: [${yamlText(columns[0]!)}] }`],
  };
}
