import { basename } from 'node:path';
import { findEstimator } from '../../src/estimators/registry.js';
import { wrap } from '../base/help.js';
import { keyedParts } from './keyed-text.js';
import { factsText } from './facts.js';
import {
  isKeyed, numberColumns, questionTitles, yamlText, type Answers, type AskedParts,
  type PlainQuestion, type Question, type Range,
} from './questions.js';
import { corruption, corruptionRemark, rounded, spreadOf } from './spread.js';

/** The estimator for a question, its parameters as lines of YAML, and a comment about them. */
interface Choice {
  readonly estimator: string;
  readonly remarks: readonly string[];
  readonly parameters: string;
}

/** With more columns, a covariance is not robust against false rows. */
const robustColumnsMax = 16;
const bins = 10;

/**
 * Makes a study file with a comment for each key.
 * @param schema - path of the JSON Schema for editors, for the file's first line; undefined for no
 *   such line.
 */
export function studyText(answers: Answers, file: string, schema: string | undefined): string {
  const { study, title, cohort, epsilon, delta, budget, releases, every, question } = answers;
  const lasting = releases === null ? '' : `, releases: ${releases}`;
  const deltas = rounded(10 * delta, 6).toExponential();
  const { columns, asked } = isKeyed(question)
    ? keyedParts(question, answers) : plainParts(question, answers);
  return `${schema === undefined ? '' : `# yaml-language-server: $schema=${schema}\n`}\
# ${questionTitles[question]} Made by keelson init.
# All of this is public. After a change, check it without data: keelson plan ${basename(file)}

# People and commands ask for the study by this name.
study: ${yamlText(study)}

${titleText(title)}
${columns}
# About how many people you expect in each epoch: a public guess, never a count.
cohort: ${cohort}

# secret: it is also protected whether a person takes part.
# public: only what people send is protected.
participation: secret

# An epoch ends after this time and gives one release.
epoch: { every: ${every} }

${asked}
# How much one release may reveal about any one person: smaller is more private, with more noise.
# delta is the probability that the bound fails; keep it far below one divided by the cohort.
privacy: { epsilon: ${epsilon}, delta: ${delta.toExponential()} }

${question === 'running-total'
    ? `# What all epochs in which a person counts may cost it. Running totals need the scope contributor.
budget: { epsilon: ${budget}, delta: ${deltas}, scope: contributor${lasting} }
`
    : `# What all releases together may cost. The study ends when it is used up.
# "per: 30d" in it would make it renew. "releases: 8" says for how many answers it must last: fewer
# have less noise each.
budget: { epsilon: ${budget}, delta: ${deltas}, scope: study${lasting} }
`}${factsText(answers)}`;
}

function titleText(title: string | null): string {
  return `# What pages show in place of the name. "description:" may say more, in a few sentences.
${title === null ? '# title: A name for people' : `title: ${JSON.stringify(title)}`}
`;
}

function plainParts(question: PlainQuestion, answers: Answers): AskedParts {
  const { estimator, remarks, parameters } = choiceFor(question, answers);
  const reduce = reductions[question] ?? 'one';
  return {
    columns: plainColumns(answers),
    asked: `\
# However many rows a person sends in an epoch, they count as one row:
# ${reduceWords[reduce]}
contribution: { reduce: ${reduce}, rowsMax: 64 }

# How the answer is worked out. All settings: keelson estimators ${estimator}
${wrap(`It assumes: ${findEstimator(estimator).assumption}`, 90).map((line) => `# ${line}\n`).join('')
}estimator: ${estimator}

${remarks.map((line) => `# ${line}\n`).join('')}parameters: ${parameters === '' ? '{}' : `{ ${parameters} }`}
`,
  };
}

/** A list of names, or a map where a column has a range that servers know, or is optional. */
function plainColumns(answers: Answers): string {
  const { columns, optional, servers } = answers;
  if (optional.length === 0 && servers === null) {
    return `# The numbers in a row, in their order.
columns: [${columns.map(yamlText).join(', ')}]
`;
  }
  return `# The numbers in a row, in their order. A row without an optional value does not count.
columns:
${numberColumns(answers).join('\n')}
`;
}

const reductions: Partial<Record<Question, keyof typeof reduceWords>> = {
  mean: 'mean', 'skewed-mean': 'mean', covariance: 'mean', total: 'sum',
};
const reduceWords = {
  mean: 'mean is their average.', sum: 'sum is their sum.',
  one: 'one is one of them, chosen at random.',
} as const;

function choiceFor(question: PlainQuestion, answers: Answers): Choice {
  switch (question) {
    case 'mean': return answers.servers === null ? meanChoice('robust-mean', answers)
      : sealedMeanChoice(answers);
    case 'skewed-mean': return meanChoice('prime-heavy', answers);
    case 'covariance': return covarianceChoice(answers);
    case 'share': return {
      estimator: 'share',
      remarks: ['The share of the people whose value is at least this.'],
      parameters: `threshold: ${answers.threshold!}`,
    };
    case 'total': return {
      estimator: 'sum',
      remarks: [
        'What one person adds to the total is clipped to this range, one range for each column.',
        'A smaller range gives less noise. The release says if many people are beyond it.',
        'Nobody knows it, and no value is negative: { cap: auto, cap-max: LARGEST } finds a bound.',
      ],
      parameters: `range: [${answers.ranges!.map(({ low, high }) =>
        `${low}..${high}`).join(', ')}]`,
    };
    case 'histogram': return {
      estimator: 'histogram',
      remarks: [
        'Where the bins begin and end. Two more bins are below the first edge and above the last.',
      ],
      parameters: `edges: [${edgesOf(answers.ranges![0]!).join(', ')}]`,
    };
    case 'distribution': {
      return {
        estimator: 'distribution',
        remarks: ['Values outside the range are counted as beyond it.',
          'The range is cut into this many cells. More cells need little more noise.'],
        parameters: `${rangesText(answers)}, cells: 256`,
      };
    }
    case 'median': return {
      estimator: 'median',
      remarks: [rangeRemark(answers)],
      parameters: rangesText(answers),
    };
    case 'percentile': return {
      estimator: 'quantile',
      remarks: [rangeRemark(answers), 'probabilities says which quantiles: 0.5 is the median.'],
      parameters: [rangesText(answers), 'probabilities: [0.25, 0.5, 0.75]']
        .filter((part) => part !== '').join(', '),
    };
  }
}

function rangesText({ ranges }: Answers): string {
  if (ranges === null) return '';
  const texts = ranges.map(({ low, high }) => `${low}..${high}`);
  return `range: ${texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`}`;
}

function rangeRemark({ ranges }: Answers): string {
  return ranges === null
    ? 'range: LOW..HIGH is needed for values near one another and far from zero, such as years.'
    : 'Values outside the range count as at the nearer end.';
}

function meanChoice(estimator: string, { ranges }: Answers): Choice {
  const spread = spreadOf(ranges);
  return {
    estimator,
    remarks: [...spread.remarks, corruptionRemark],
    parameters: `spread: ${spread.text}, corruption: ${corruption}`,
  };
}

/** Three servers that see no row find the mean within the range of each column. */
function sealedMeanChoice({ ranges }: Answers): Choice {
  const { remarks, text } = spreadOf(ranges);
  return { estimator: 'mean', remarks, parameters: `spread: ${text}` };
}

function covarianceChoice({ columns, ranges }: Answers): Choice {
  if (columns.length > robustColumnsMax) {
    return {
      estimator: 'covariance',
      remarks: spreadOf(ranges).remarks,
      parameters: `spread: ${spreadOf(ranges).text}`,
    };
  }
  const spread = spreadOf(ranges);
  return {
    estimator: 'stable-covariance',
    remarks: [
      ...spread.remarks, corruptionRemark,
      'condition bounds how many times wider rows vary in one direction than in another, in',
      'spreads squared.',
    ],
    parameters: `spread: ${spread.text}, corruption: ${corruption}, condition: 1000`,
  };
}

function edgesOf({ low, high }: Range): readonly number[] {
  const inner = Array.from({ length: bins - 1 }, (_, i) =>
    rounded(low + ((high - low) * (i + 1)) / bins, 12));
  return [low, ...inner, high];
}
