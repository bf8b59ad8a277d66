import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFile, packageVersion } from '../../server/base/place.js';
import { escaped } from '../../src/answers/drawing.js';
import { namesOfType, type ColumnType } from '../../src/base/columns.js';
import { InvalidInputError } from '../../src/base/errors.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { asInputError } from '../base/errors.js';

/** The files that each app has as examples/survey has them: they know no column by name. */
const copied = ['serve.js', 'survey.js', 'survey.css'] as const;

/** The public facts of a study that its page shows. */
type AppStudy = Pick<StudyDocument, 'study' | 'title' | 'columns' | 'types'>;

const appFiles = [...copied, 'study.yaml', 'index.html', 'package.json', 'README.md'];

/**
 * Refuses a folder in which a file of the app exists already.
 * @throws InvalidInputError
 */
export function refuseAppFolder(folder: string): void {
  const found = appFiles.map((name) => join(folder, name)).find(existsSync);
  if (found === undefined) return;
  throw new InvalidInputError(
    `${found} exists and is not overwritten: name another folder`, { path: found },
  );
}

/**
 * Writes a survey beside its study file: a form with a field for each column, live charts of the
 * answers below it, and a server for both.
 * @param folder - is made if it does not exist.
 * @param study - the content of the study file, and the facts in it.
 * @throws InvalidInputError if a file exists or cannot be written.
 */
export function writeApp(folder: string, content: string, study: AppStudy): void {
  const texts = {
    'study.yaml': content, 'index.html': pageOf(study), 'package.json': manifestOf(study),
    'README.md': readmeOf(study),
  };
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(texts)) {
      writeFileSync(join(folder, name), text, { flag: 'wx' });
    }
    for (const name of copied) {
      copyFileSync(packageFile(`examples/survey/${name}`), join(folder, name));
    }
  } catch (error) {
    throw asInputError(error, folder);
  }
}

/** The page of the example, with the title and the columns of this study. */
function pageOf(study: AppStudy): string {
  const title = escaped(study.title ?? study.study);
  const fields = study.columns.map((name, i) => `      ${fieldOf(name, study.types?.[i])}\n`);
  const [before, form] = readFileSync(packageFile('examples/survey/index.html'), 'utf8')
    .replaceAll('How did you sleep?', () => title)
    .split(/(?<=<form id="survey">\n)/);
  return before + fields.join('') + form!.slice(form!.indexOf('      <button'));
}

/** A field in which a person answers for a column; its `name` is that of the column. */
function fieldOf(column: string, type: ColumnType = { type: 'number' }): string {
  const name = `name="${escaped(column)}"`;
  const label = escaped(column.replaceAll('_', ' '));
  const required = type.optional === true ? '' : ' required';
  if (type.type === 'boolean') return `<label>${label} <input ${name} type="checkbox"></label>`;
  if (type.type === 'text') return `<label>${label} <input ${name} type="text"${required}></label>`;
  const names = namesOfType(type);
  if (names !== null) {
    const options = ['', ...names].map((each) => `<option>${escaped(each)}</option>`);
    return `<label>${label} <select ${name}${required}>${options.join('')}</select></label>`;
  }
  // A column's range says what is expected: values beyond it are taken, so the form takes them.
  const step = type.type === 'integer' ? '1' : 'any';
  return `<label>${label} <input ${name} type="number" step="${step}"${required}></label>`;
}

function manifestOf({ study }: AppStudy): string {
  const version = packageVersion();
  return `${JSON.stringify({
    name: study.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-'),
    private: true,
    type: 'module',
    scripts: { start: 'node serve.js' },
    dependencies: { '@keelson/client': version, keelson: version },
  }, null, 2)}\n`;
}

function readmeOf({ study, title }: AppStudy): string {
  return `# ${title ?? study}

A page that asks people, and shows live what all of them answered. Nobody sees what one person sent.

\`\`\`sh
npm install
npm start
\`\`\`

Then open <http://127.0.0.1:8000>. To see answers before people come, let made-up ones take part in a second terminal:

\`\`\`sh
npx keelson simulate ws://127.0.0.1:8787 --study ${study}
\`\`\`

| file | what it is |
|---|---|
| \`study.yaml\` | what is asked, of how many people, and at which privacy. For a trial give it a short epoch, such as \`{ every: 1min }\` |
| \`index.html\` | the form: a field for each column, with its name and in their order |
| \`survey.js\`, \`survey.css\` | send a row, keep it until it has arrived, and draw the answers |
| \`serve.js\` | serves the page and, unless it is given the address and the key of one that runs elsewhere, the aggregator |

Before people elsewhere answer, put a proxy with TLS in front of both.
`;
}
