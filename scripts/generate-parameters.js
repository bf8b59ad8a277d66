// Generates src/estimators/generated/parameters.ts: the type of the parameters of each estimator,
// out of the list that the estimator checks them against.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { generate, root } from './generated.js';

const registry = 'src/estimators/registry.ts';

/** The estimators import nearly everything below them, and nothing that is generated from them. */
function inputs() {
  const folders = ['src/base', 'src/estimators', 'src/numerics', 'src/privacy', 'src/robust'];
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.name.endsWith('.ts'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .filter((path) => !path.startsWith('src/estimators/generated')));
  return [registry, ...paths.sort(), 'scripts/generate-parameters.js', 'scripts/generated.js'];
}

/** Name and parameters of every estimator, from the sources as they are. */
function estimators() {
  const scratch = mkdtempSync(join(tmpdir(), 'keelson-parameters-'));
  const outfile = join(scratch, 'registry.mjs');
  try {
    buildSync({
      absWorkingDir: root, entryPoints: [registry], outfile, bundle: true, format: 'esm',
      platform: 'node', logLevel: 'warning',
    });
    const program = `import { estimators } from ${JSON.stringify(pathToFileURL(outfile).href)};
      console.log(JSON.stringify(estimators.map(({ name, parameters }) => ({ name, parameters }))));`;
    const words = ['--input-type=module', '-e', program];
    return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const quoted = (texts) => texts.map((text) => `'${text}'`);

function typeOf({ type, choices = [] }) {
  if (type === 'boolean') return 'boolean';
  if (type === 'choice') return quoted(choices).join(' | ');
  if (type === 'scale') return ['PerColumn<number>', ...quoted(choices)].join(' | ');
  if (type === 'range') return 'PerColumn<`${number}..${number}`>';
  if (type === 'numbers') return 'number | readonly number[]';
  return type === 'list' ? 'readonly unknown[]' : 'number';
}

function memberOf(spec) {
  const isNeeded = spec.default === undefined && spec.optional !== true;
  const name = /^\w+$/.test(spec.name) ? spec.name : `'${spec.name}'`;
  return `    /** ${spec.description} */\n`
    + `    readonly ${name}${isNeeded ? ':' : '?: undefined |'} ${typeOf(spec)};\n`;
}

function textOf(list) {
  const members = list.map(({ name, parameters }) =>
    `  readonly '${name}': {\n${parameters.map(memberOf).join('')}  };\n`);
  return `/** One for all columns, or a list with one for each. */
export type PerColumn<Value> = Value | readonly Value[];

/** The parameters of each estimator, as a program gives them. */
export interface EstimatorParameters {
${members.join('')}}
`;
}

/** Brings the file up to date with the estimators. @returns whether it was written */
export function generateParameters(folder = join(root, 'src/estimators/generated')) {
  return generate(folder, ['parameters.ts'], inputs(), () => ({
    'parameters.ts': textOf(estimators()),
  }));
}
