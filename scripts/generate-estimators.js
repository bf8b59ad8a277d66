// Generates sources of src/estimators from the table of estimators: the export of each, what pages
// need to describe answers, and the types of parameters, out of the lists that estimators check
// them against.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync, transformSync } from 'esbuild';
import { generate, root } from './generated.js';

const source = 'src/estimators/table.ts';
const scripts = ['scripts/generate-estimators.js', 'scripts/generated.js'];

/** The estimators import nearly everything below them. */
function inputs() {
  const folders = ['src/base', 'src/estimators', 'src/numerics', 'src/privacy', 'src/robust'];
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.name.endsWith('.ts'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .filter((path) => !/^src\/estimators\/(contract\/)?generated/.test(path)));
  return [source, ...paths.sort(), ...scripts];
}

async function readTable() {
  const { code } = transformSync(readFileSync(join(root, source), 'utf8'), { loader: 'ts' });
  const { table } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return table;
}

const camelCase = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const titleCase = (name) => camelCase(`-${name}`);

/** The estimators of one part, or those of none. */
const ofPart = (table, part) => table.filter((entry) => entry.part === part);
const partsOf = (table) => [...new Set(table.flatMap(({ part = [] }) => part))];
/** The module, within `generated`, that exports the estimators of a part. */
const moduleOf = (part) => `exports-of-${part}`;

/** All exports: those of the parts, and the others. */
function allExportsText(table) {
  const parts = partsOf(table).map((part) => `export * from './${moduleOf(part)}.js';\n`);
  return `${parts.join('')}${exportsText(ofPart(table, undefined))}`;
}

function loadersText(table) {
  const lines = table.map(({ name, part }) =>
    `  '${name}': async () => (await import('./${part === undefined ? 'exports' : moduleOf(part)}`
    + `.js')).${camelCase(name)},\n`);
  return `import type { Estimator } from '../contract/estimator.js';

/** Loads an estimator by its name, with as little else as \`table.ts\` says. */
export const loaders: Readonly<Record<string, () => Promise<Estimator>>> = Object.freeze({
${lines.join('')}});
`;
}

function exportsText(table) {
  const imports = table.map(({ name, folder }) =>
    `import { ${camelCase(name)} as ${camelCase(name)}Unchecked } `
    + `from '../${folder}/${name}/${name}.js';\n`);
  const exported = table.map(({ name }) =>
    `export const ${camelCase(name)} = `
    + `/* @__PURE__ */ defineEstimator<'${name}'>(${camelCase(name)}Unchecked);\n`);
  return `import { defineEstimator } from '../contract/given.js';\n${imports.join('')}\n${
    exported.join('')}`;
}

function descriptionsText(table) {
  const describes = table.map(({ name, folder, describe }) => ({
    name, describe: describe ?? `describe${titleCase(name)}`,
    from: describe === undefined ? `../${folder}/${name}/describe.js` : '../contract/describe.js',
  }));
  const imports = new Set(describes.map(({ describe, from }) =>
    `import { ${describe} } from '${from}';\n`));
  return `import type { Describe } from '../../base/number-info.js';
${[...imports].join('')}
/**
 * How the numbers of each estimator's answers are described, apart from how they are worked out:
 * pages and clients load this table, and no estimator. Estimators have the same as \`describe\`.
 */
export const descriptions: Readonly<Record<string, Describe>> = Object.freeze({
${describes.map(({ name, describe }) => `  '${name}': ${describe},\n`).join('')}});
`;
}

/** Name and parameters of every estimator, from the sources as they are. */
function estimatorsOf(table) {
  const scratch = mkdtempSync(join(tmpdir(), 'keelson-estimators-'));
  const outfile = join(scratch, 'estimators.mjs');
  try {
    buildSync({
      absWorkingDir: root, entryPoints: ['src/estimators/index.ts'], outfile, bundle: true,
      format: 'esm', platform: 'node', logLevel: 'warning',
    });
    const program = `import * as all from ${JSON.stringify(pathToFileURL(outfile).href)};
      console.log(JSON.stringify(Object.values(all).map(({ name, parameters }) =>
        ({ name, parameters }))));`;
    const words = ['--input-type=module', '-e', program];
    const found = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }));
    return table.map(({ name, folder }) => {
      const estimator = found.find((each) => each.name === name);
      if (estimator !== undefined) return estimator;
      throw new Error(`no estimator calls itself ${name}: compare the table with the name in `
        + `src/estimators/${folder}/${name}/${name}.ts`);
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const quoted = (texts) => texts.map((text) => `'${text}'`);

function typeOf({ type, choices = [] }) {
  if (type === 'boolean') return 'boolean';
  if (type === 'choice') return quoted(choices).join(' | ');
  if (type === 'positive') return ['PerColumn<number>', ...quoted(choices)].join(' | ');
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

function parametersText(list) {
  const members = list.map(({ name, parameters }) =>
    `  readonly '${name}': {\n${parameters.map(memberOf).join('')}  };\n`);
  return `/** One for all columns, or a list with one for each. */
export type PerColumn<Value> = Value | readonly Value[];

/** The parameters of each estimator, as a program gives them. */
export interface EstimatorParameters {
${members.join('')}}
`;
}

/** Brings the files up to date with the table and the estimators. @returns whether any changed */
export async function generateEstimators(folder = join(root, 'src/estimators')) {
  const table = await readTable();
  const parts = partsOf(table);
  const names =
    ['descriptions.ts', 'exports.ts', 'loaders.ts', ...parts.map((part) => `${moduleOf(part)}.ts`)];
  const isWritten = generate(join(folder, 'generated'), names, [source, ...scripts], () => ({
    'descriptions.ts': descriptionsText(table),
    'exports.ts': allExportsText(table),
    'loaders.ts': loadersText(table),
    ...Object.fromEntries(parts.map((part) =>
      [`${moduleOf(part)}.ts`, exportsText(ofPart(table, part))])),
  }));
  // The types come from the estimators, which the bundle reaches through the exports.
  const types = ['parameters.ts'];
  const areTyped = generate(join(folder, 'contract/generated'), types, inputs(), () => ({
    'parameters.ts': parametersText(estimatorsOf(table)),
  }));
  return isWritten || areTyped;
}
