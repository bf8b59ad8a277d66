import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseStudyText } from '../../server/study-file/index.js';
import { packageFile } from '../../server/base/place.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import { InvalidInputError, KeelsonError } from '../../src/base/errors.js';
import { defineCommand } from '../base/command.js';
import { asInputError, UsageError } from '../base/errors.js';
import { askedText } from '../base/questions.js';
import { askSize, askStudy, type InitFlags } from '../init/answers.js';
import { refuseAppFolder, writeApp } from '../init/app.js';
import { backWord, createAsker, WentBack, type Asker } from '../init/asker.js';
import { questions, questionTitles, type Answers } from '../init/questions.js';
import { studyText } from '../init/study-text.js';

const defaultFile = 'study.yaml';
const defaultFolder = 'survey';
const text = (valueHint: string, description: string) =>
  ({ type: 'string', valueHint, description }) as const;

export const init = defineCommand({
  name: 'init',
  summary: 'Write a study file with a comment for each key, from a few questions.',
  details: [
    `In a terminal it asks for everything that has no flag, and the answer "${backWord}" leads to the `
    + 'question before. Elsewhere the flags are required. The study is named after the file. An '
    + 'existing file is never changed, and nothing is written unless "keelson plan" accepts the '
    + 'study.',
    `Questions: ${questions.map((each) =>
      `${each}: ${questionTitles[each].replace(/^[A-Z]/, (letter) => letter.toLowerCase())}`)
      .join(' ')}`,
    'Questions about names are about those in the column that --group-by names. Ranges are public '
    + 'guesses: do not take them from the data.',
    'With --app FILE is a folder, which the command makes. Beside study.yaml it gets a web page: a '
    + 'form for people, live charts of what all of them answered, and a server for both.',
    'With --server three times the study is sealed: the servers are of three operators, and none '
    + 'sees a row. They answer mean, histogram, percentile, count-by-group and several.',
  ],
  args: {
    file: {
      type: 'positional', required: false,
      description: `the file to write (default ${defaultFile}); with --app the folder (default `
        + `${defaultFolder})`,
    },
    question: { type: 'enum', options: [...questions], description: 'what you want to know' },
    title: text('text', 'what pages show in place of the name of the study'),
    columns: text('a,b', 'the columns that it is about'),
    csv: {
      type: 'string', valueHint: 'file',
      description: 'read the names of columns from the first line of this file, and nothing else',
    },
    range: text(
      'a=low..high', 'values between which a column nearly always lies; may be repeated',
    ),
    'group-by': text('a,b', 'of a question about names: the column that holds them; with several '
      + 'each pair of their names is a group'),
    groups: text('a,b', 'the names that --group-by holds, a public list; others count as other; '
      + 'with several columns region=a,b, repeated'),
    threshold: text('x', 'of a share: people with at least this value count'),
    cohort: text('n', 'about how many people take part in each epoch'),
    epsilon: text('e', 'privacy loss bound of each release (default 1)'),
    delta: text('d', 'probability that the bound fails, far below 1 / cohort (default 1e-6 or '
      + 'less)'),
    budget: text('e', 'privacy loss bound of all releases together (default 8 times --epsilon)'),
    releases: text('n', 'for how many releases the budget must last: fewer have less noise each '
      + '(default: as many as it can pay)'),
    every: text('duration', 'length of an epoch (default 1d)'),
    optional: text('a,b', 'columns of which a row may have no value'),
    server: text('name=url,key', 'one of the three servers of a sealed study, none of which sees a '
      + 'row; given three times'),
    app: {
      type: 'boolean', description: 'write a page with a form and live charts, and its server, too',
    },
    quarantine: text('x', 'show keys whose rows are more than so many spreads from the answers'),
  },
  repeatable: ['range', 'groups', 'server'],
  examples: [
    'keelson init',
    'keelson init commutes.yaml --question mean --columns minutes,kilometres --cohort 3000',
    'keelson init ages.yaml --question percentile --columns age --range 0..120 --cohort 500',
    'keelson init rides.yaml --question count-by-group --group-by region --groups north,south '
      + '--cohort 2000',
    'keelson init weeks.yaml --question running-total --group-by region --groups north,south '
      + '--cohort 2000',
    'keelson init sleep --app --question mean --columns hours --range 0..24 --cohort 500',
    'keelson init apps.yaml --question unknown-groups --group-by app --cohort 2000',
  ],
  async run({ args, repeated, io, output }) {
    const { app } = args;
    if (app && (repeated['server'] ?? []).length > 0) {
      throw new UsageError('--app is not for a sealed study: its page needs the entry '
        + '@keelson/client/sealing; leave out --app or --server');
    }
    const place = args.file ?? (app ? defaultFolder : defaultFile);
    if (app && /\.ya?ml$/i.test(place)) {
      throw new UsageError(`with --app FILE is a folder: write ${place.replace(/\.ya?ml$/i, '')}`);
    }
    const file = app ? join(place, 'study.yaml') : place;
    const named = app ? `${place}.yaml` : file;
    if (app) refuseAppFolder(place);
    else refuseFile(file);
    const asker = createAsker(io);
    try {
      const flags = {
        ...args, ranges: repeated['range'] ?? [], groups: repeated['groups'] ?? [],
        servers: repeated['server'] ?? [],
      };
      const { content, definition } = await acceptedStudy(flags, named, file, asker);
      if (app) writeApp(place, content, definition.document);
      else write(file, content);
      const { document, releases } = definition;
      const { study, questions: asked, budget } = document;
      const what = document.wireForm === 'short' ? `the estimator ${asked[0]!.estimator}`
        : `${asked.length === 1 ? 'the question' : 'the questions'} ${askedText(document)}`;
      output.text(`wrote ${file}: the study ${study}, with ${what}`);
      const count = releases === 1 ? '1 release' : `${releases} releases`;
      output.text(`its budget of epsilon ${budget.epsilon} pays for ${count}`);
      if (app) output.text(`beside it are a page and its server: see ${place}/README.md`);
      const next = app ? `cd ${place} && npm install && npm start` : `keelson plan ${file}`;
      output.text(`next: ${next}`);
      output.json({
        file, study, releases,
        questions: asked.map(({ name, estimator }) => ({ name, estimator })),
      });
    } finally {
      asker.close();
    }
    return 0;
  },
});

interface Accepted {
  readonly content: string;
  readonly definition: StudyDefinition;
}

/**
 * Asks until the study has a plan. If nobody can be asked, the refusal of the plan ends the
 * command.
 * @param named - the file after which the study is named.
 */
async function acceptedStudy(
  flags: InitFlags, named: string, file: string, asker: Asker,
): Promise<Accepted> {
  if (asker.isTerminal) {
    asker.tell(`The answer "${backWord}" leads to the question before.`);
    if (flags.question === undefined) {
      questions.forEach((each) => asker.tell(`  ${each.padEnd(16)} ${questionTitles[each]}`));
    }
  }
  let sizes: Parameters<typeof askSize>[0] = flags;
  for (;;) {
    const asked = await askAll(flags, sizes, named, asker);
    if (asked === null) continue;
    const { answers, count } = asked;
    const content = studyText(answers, file, schemaFor(file));
    try {
      return { content, definition: parseStudyText(content, { name: file }) };
    } catch (error) {
      if (!(error instanceof KeelsonError)) throw error;
      if (error.code !== 'plan-infeasible' || !asker.isTerminal) {
        const { code, message, details } = error;
        throw new KeelsonError(code, `${message}; nothing is written`, { details, cause: error });
      }
      asker.tell(`${error.message}\nSo once more:`);
      asker.startAgain(count);
      sizes = {};
    }
  }
}

/** All answers, and how many of them come before the sizes; null where the person went back. */
async function askAll(
  flags: InitFlags, sizes: Parameters<typeof askSize>[0], named: string, asker: Asker,
): Promise<{ readonly answers: Answers; readonly count: number } | null> {
  try {
    const rest = await askStudy(flags, named, asker);
    const count = asker.answered;
    return { answers: { ...rest, ...await askSize(sizes, asker) }, count };
  } catch (error) {
    if (!(error instanceof WentBack)) throw error;
    asker.startAgain();
    return null;
  }
}

function refuseFile(file: string): void {
  const folder = dirname(file);
  const wrong = existsSync(file) ? `${file} exists and is not overwritten: name another file`
    : !existsSync(folder) ? `${folder}: there is no such folder: make it first` : undefined;
  if (wrong !== undefined) throw new InvalidInputError(wrong, { path: file });
}

function write(file: string, content: string): void {
  try {
    // Also refuses a file that was made in the meantime.
    writeFileSync(file, content, { flag: 'wx' });
  } catch (error) {
    throw asInputError(error, file);
  }
}

/**
 * Path of the JSON Schema, relative to the study file, for editors; undefined if it is not
 * installed.
 */
function schemaFor(file: string): string | undefined {
  const found = fileURLToPath(packageFile('docs/reference/study-file.schema.json'));
  if (!existsSync(found)) return undefined;
  const path = relative(dirname(resolve(file)), found).replaceAll('\\', '/');
  // Editors end the path at a space.
  return /\s/.test(path) ? pathToFileURL(found).href : path;
}
