// @module-tag slow
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, type Ended } from '../support/live-command.js';
import { root } from '../support/sources.js';

const page = readFileSync(`${root}docs/internals/extending.md`, 'utf8');
/** The indented blocks of the section, in its order. */
const [estimator = '', suite = '', attack = '', pooled = ''] = [
  ...page.split('## An estimator in a package of your own\n')[1]!.split('\n## ')[0]!
    .matchAll(/^ {3}```ts\n([^]*?)^ {3}```$/gm),
].map(([, text]) => text!.replace(/^ {3}/gm, ''));

const pooledSuite = `import { test } from 'node:test';
import { complianceCases } from 'keelson/kit';
import { centredMean } from './centred-mean.js';
const cases = complianceCases(centredMean, {
  parameters: { spread: 3 }, dimension: 2, cohort: 4_000, unit: 3, location: true,
  honest: (data) => data.normals(2).map((value) => 3 * value), truth: () => [0, 0],
});
for (const { name, run } of cases) test(name, run);
`;

const settings = {
  compilerOptions: {
    module: 'nodenext', target: 'es2023', lib: ['es2024'], strict: true,
    noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, types: ['node'],
    typeRoots: [`${root}node_modules/@types`],
  },
  include: ['*.ts'],
};

describe('estimators in a package of their own', () => {
  const stage = new Stage();
  const folder = stage.folder;

  const node = (...words: readonly string[]): Promise<Ended> =>
    stage.run(words.slice(1), { command: words[0]!, directory: folder });
  const compile = (): Promise<Ended> => node(`${root}node_modules/typescript/bin/tsc`, '-p', '.');

  /** The number of cases that passed, and the names of those that failed. */
  const results = async (file: string): Promise<readonly [number, readonly string[]]> => {
    const { stdout } = await node('--test', '--test-reporter=tap', file);
    const failed = [...stdout.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, name]) => name!);
    return [Number(/^# pass (\d+)$/m.exec(stdout)?.[1]), failed];
  };

  beforeAll(async () => {
    stage.write('package.json', '{ "type": "module" }');
    stage.write('tsconfig.json', JSON.stringify(settings));
    stage.write('unit-mean.ts', estimator);
    stage.write('unit-mean.test.ts', suite);
    stage.write('attack.ts', attack);
    stage.write('centred-mean.ts', pooled);
    stage.write('centred-mean.test.ts', pooledSuite);
    mkdirSync(`${folder}/node_modules`);
    symlinkSync(root, `${folder}/node_modules/keelson`);
    const { stdout, status } = await compile();
    expect([stdout, status]).toEqual(['', 0]);
  });

  afterAll(() => stage.end());

  it('pass their suites, with the built package alone', async () => {
    expect(await results('unit-mean.test.js')).toEqual([20, []]);
    expect(await results('centred-mean.test.js')).toEqual([21, []]);
    const { stdout, stderr } = await node('attack.js');
    expect([stdout, stderr]).toEqual(['no-defect-seen true 0\n', '']);
  });

  it('run as others do', async () => {
    stage.write('use.js', `import { estimate } from 'keelson';
import { unitMean } from './unit-mean.js';
const rows = Array.from({ length: 2_000 }, (_, i) => [i % 2]);
const { kind, estimate: [mean] } = await estimate(
  { estimator: unitMean, rows, epsilon: 1, delta: 1e-6, participation: 'public' });
console.log(kind, Math.abs(mean - 0.5) < 0.1);
try { unitMean.plan({}, { dimension: 0 }); } catch ({ message }) { console.log(message); }
`);
    const { stdout, stderr } = await node('use.js');
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(/^value true\ndimension, the number of columns, .*\n$/), '',
    ]);
  });

  it('fail suite and attack where the sensitivity is too small', async () => {
    const told = 'sensitivity: Math.sqrt(dimension + 1)';
    expect(estimator).toContain(told);
    stage.write('unit-mean.ts', estimator.replace(told, `${told} / 2`));
    await compile();
    const [, failed] = await results('unit-mean.test.js');
    expect(failed).toContain(
      'release costs no more than it charges on neighbours of honest rows, call by call');
    const { stdout } = await node('attack.js');
    expect(stdout).toMatch(/^defect /);
  });
});
