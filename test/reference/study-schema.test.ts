import Ajv from 'ajv';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { populationsSchema, studySchema } from '../../server/study-file/schema.js';
import type { KeyWords } from '../../server/study-file/schema-parts.js';
import { readYaml } from '../../server/study-file/yaml-text.js';
import { estimators } from '../../src/estimators/registry.js';
import { sampleParameters } from '../support/sample-parameters.js';
import { root } from '../support/sources.js';
import { fileWith, wrongStudies } from '../support/wrong-studies.js';

const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');
const schema = JSON.parse(read('docs/reference/study-file.schema.json')) as object;
const validate = new Ajv({ allErrors: true }).compile(schema);

/** What an editor would mark in a study file. */
function marksIn(text: string): readonly string[] {
  void validate(readYaml(text, 'study.yaml').value);
  return (validate.errors ?? []).map(({ dataPath, message }) => `${dataPath} ${message}`);
}

const tracked = execFileSync('git', ['ls-files', '*.yaml', '*.md'], { cwd: root, encoding: 'utf8' })
  .trim().split('\n');
const isStudy = (text: string): boolean => /^study: /m.test(text);
const files = tracked.filter((path) => path.endsWith('.yaml'))
  .map((path) => [path, read(path)] as const).filter(([, text]) => isStudy(text));
const blocks = [...tracked, 'docs/reference/study-file.md'].filter((path) => path.endsWith('.md'))
  .flatMap((path) => [...read(path).matchAll(/^```yaml[^\n]*\n(.*?)^```/gms)]
    .map(([, text]) => [path, text!] as const))
  .filter(([, text]) => isStudy(text));

describe('the JSON Schema of study files', () => {
  it('knows where studies are', () => {
    expect(files.length).toBeGreaterThan(12);
    expect(blocks.length).toBeGreaterThan(1);
  });

  it.each([...files, ...blocks])('finds nothing wrong in %s', (_path, text) => {
    expect(marksIn(text)).toEqual([]);
  });

  it.each(estimators)('knows the parameters of $name', ({ name, parameters }) => {
    const marksWith = (line: string): readonly string[] =>
      marksIn(fileWith({ estimator: `estimator: ${name}`, parameters: line }));
    expect(marksWith(`parameters: ${JSON.stringify(sampleParameters(name))}`)).toEqual([]);
    expect(marksWith('parameters: { wrong: 1 }'))
      .toContain('.parameters should NOT have additional properties');
    const isNeeded = parameters.some((spec) => spec.default === undefined && !spec.optional);
    expect(marksWith('').length > 0).toBe(isNeeded);
  });

  it('marks what is wrong in a file, except for what only the parser can know', () => {
    const unmarked = wrongStudies.filter(([, changes]) => marksIn(fileWith(changes)).length === 0);
    expect(unmarked.map(([name]) => name)).toEqual([
      'a value that is not finite', 'an epsilon past all sense',
      'a budget above what can be counted', 'a delta of 0', 'a column twice',
      'a column that cannot be printed', 'an epoch that is too short', 'an epoch of both kinds',
      'an epoch of neither kind', 'a count with secret participation',
      'a spread of another dimension', 'a budget without delta', 'a budget smaller than a release',
      'a budget that is twice stated', 'an unknown population',
    ]);
  });
});

interface Entry {
  readonly path: string;
  readonly schema: v.GenericSchema;
}

/** Every key of a schema, as the generated page walks it. */
function keysOf(part: unknown, path = ''): Entry[] {
  const { entries, wrapped, pipe, options, value } = part as {
    readonly entries?: Record<string, v.GenericSchema>;
    readonly wrapped?: unknown;
    readonly pipe?: readonly unknown[];
    readonly options?: readonly unknown[];
    readonly value?: unknown;
  };
  if (wrapped !== undefined) return keysOf(wrapped, path);
  if (pipe !== undefined && pipe[0] !== part) return keysOf(pipe[0], path);
  if (entries !== undefined) {
    return Object.entries(entries).flatMap(([name, entry]) =>
      [{ path: `${path}${name}`, schema: entry }, ...keysOf(entry, `${path}${name}.`)]);
  }
  if (options !== undefined) {
    // Those of a list of words are no schemas.
    return options.filter((option) => typeof option === 'object')
      .flatMap((option) => keysOf(option, path));
  }
  return value !== undefined ? keysOf(value, `${path}NAME.`) : [];
}

describe('the page of the study file', () => {
  const page = read('docs/reference/study-file.md');
  const keys = [...keysOf(studySchema), ...keysOf(populationsSchema)];

  it('knows the keys', () => {
    const paths = keys.map(({ path }) => path);
    const some = ['budget.per', 'admission.rate.contributorKeys', 'populations.NAME.epsilon'];
    expect(paths).toEqual(expect.arrayContaining(some));
  });

  it.each(keys)('says what $path is for, what it takes and what holds without it', (entry) => {
    const { path, schema: key } = entry;
    const section = page.split(`\n### \`${path}\`\n`)[1]?.split('\n##')[0];
    const lines = /^\n[^-\n].+\n\n- Value: .{4,}\n- When absent: .{4,}\n- Example: `.+`\n/;
    expect(section).toMatch(lines);
    expect(section).not.toMatch(/undefined|\[object/);
    const { example } = v.getMetadata(key) as Partial<KeyWords>;
    expect(v.safeParse(key, example).success).toBe(true);
  });
});
