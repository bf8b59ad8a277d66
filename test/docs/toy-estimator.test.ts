// @module-tag slow
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { addGoClient, buildGo, hasGo } from '../support/go.js';
import { Stage, type Ended, type Served } from '../support/live-command.js';
import { root } from '../support/sources.js';

const page = readFileSync(`${root}docs/internals/extending.md`, 'utf8');
/** The indented blocks of the section, in its order. */
const blocks = [...page.split('## An estimator\n')[1]!.split('\n## ')[0]!
  .matchAll(/^ {3}```ts\n([^]*?)^ {3}```$/gm)].map(([, text]) => text!.replace(/^ {3}/gm, ''));

const folder = 'src/estimators/mean/clamped-mean';
const python = '/usr/bin/python3';
const people = 60;
const studyText = `study: clamped
columns: { delay: { type: number, unit: minutes } }
cohort: ${people}
participation: public
epoch: { contributors: ${people} }
contribution: { reduce: mean, rowsMax: 8 }
estimator: clamped-mean
parameters: { within: 0..60 }
privacy: { epsilon: 4, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5, scope: study }
`;

describe('an estimator that is written as docs/internals/extending.md says', () => {
  const stage = new Stage();
  const copy = stage.path('keelson');
  const command = `${copy}/bin/keelson.js`;
  let chromium: LaunchedBrowser | undefined;
  let served: Served;
  let studyId: string;
  let log: readonly Record<string, string>[];

  afterAll(async () => {
    await chromium?.close();
    await stage.end();
  });

  const run = async (...words: readonly string[]): Promise<Ended> =>
    stage.run(words, { command, directory: stage.folder });
  const written = async (...words: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await run(...words);
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  };

  /** The sources with one folder and one line more, built, and a release of a study of it. */
  beforeAll(async () => {
    const paths = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
      cwd: root, encoding: 'utf8',
    }).trimEnd().split('\n').filter((path) => !/^(test|bench|\.github)\//.test(path));
    for (const path of paths) {
      if (!existsSync(root + path)) continue;
      mkdirSync(dirname(`${copy}/${path}`), { recursive: true });
      cpSync(root + path, `${copy}/${path}`);
    }
    for (const path of ['dist', 'src/wire/generated']) {
      cpSync(root + path, `${copy}/${path}`, { recursive: true });
    }
    symlinkSync(`${root}node_modules`, `${copy}/node_modules`);
    const [estimator, description, line] = blocks as [string, string, string];
    mkdirSync(`${copy}/${folder}`);
    writeFileSync(`${copy}/${folder}/clamped-mean.ts`, estimator);
    writeFileSync(`${copy}/${folder}/describe.ts`, description);
    const table = readFileSync(`${copy}/src/estimators/table.ts`, 'utf8');
    writeFileSync(`${copy}/src/estimators/table.ts`, table.replace('] as const', `${line}] as const`));
    execFileSync(process.execPath, ['scripts/build.js'], { cwd: copy, stdio: 'inherit' });

    const study = stage.write('study.yaml', studyText);
    served = await stage.serve([study], { command });
    const rows = Array.from({ length: people }, (_, i) => `${20 + (i % 3)}\n`).join('');
    const input = stage.write('rows.csv', `delay\n${rows}`);
    const { status } = await run('simulate', served.url, '--study', 'clamped', '--contributors',
      String(people), '--rows', '1', '--input', input, '--epochs', '1');
    expect(status).toBe(0);
    await written('watch', served.url, '--study', 'clamped', '--count', '1');
    const { studies: [listed] } = await (await fetch(`${served.address}/v1/studies`)).json() as {
      studies: [{ id: string }];
    };
    studyId = listed.id;
    const releases = await fetch(`${served.address}/v1/releases?study=clamped`);
    const lines = await releases.text();
    stage.write('releases.log', lines);
    log = lines.trimEnd().split('\n').map((text) => JSON.parse(text) as Record<string, string>);
  }, 600_000);

  it('is a folder and a line, and nothing else', () => {
    expect(blocks).toHaveLength(3);
    expect(blocks[2]!.trimEnd().split('\n')).toHaveLength(1);
  });

  it('is a command', async () => {
    expect(await written('estimators', 'clamped-mean')).toContain('pulled into a public range');
    const rows = stage.write('people.csv', `delay\n${'20\n30\n'.repeat(500)}`);
    const found = JSON.parse(await written(
      'estimate', 'clamped-mean', rows, '--epsilon', '4', '--delta', '1e-6', '--set',
      'within=0..60', '--json',
    )) as { estimate: number[]; numbers: object[] };
    expect(found.estimate[0]).toBeCloseTo(25, 0);
    const plan = await written('plan', 'clamped-mean', '--columns', '1', '--cohort', '1000',
      '--participation', 'secret', '--epsilon', '1', '--delta', '1e-6', '--set', 'within=0..60');
    expect(plan).toContain('errors are in units of the column');
    const wrong = await run('plan', 'clamped-mean', '--columns', '1', '--cohort', '1000',
      '--participation', 'secret', '--epsilon', '1', '--delta', '1e-6', '--set', 'witin=0..60');
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('within')]);
  });

  it('is in the types, the schema of study files and the reference', () => {
    const declared = `${copy}/dist/src/estimators/contract/generated/parameters.d.ts`;
    expect(readFileSync(declared, 'utf8')).toMatch(/'clamped-mean': \{[^]*?within: /);
    for (const name of ['study-file.schema.json', 'estimators.md']) {
      expect(readFileSync(`${copy}/docs/reference/${name}`, 'utf8')).toContain('clamped-mean');
    }
  });

  it('is read from a log, and written as CSV', async () => {
    const file = stage.path('releases.csv');
    const found = await written('verify', stage.path('releases.log'), '--server-key',
      served.serverKey, '--export', file);
    expect(found).toContain('delay');
    const [header, row] = readFileSync(file, 'utf8').split(/\r?\n/);
    const cells = Object.fromEntries(header!.split(',').map((name, i) =>
      [name, row!.split(',')[i]!.replaceAll('"', '')]));
    expect(cells)
      .toMatchObject({ estimator: 'clamped-mean', name: 'delay', outcome: 'value' });
  });

  it.runIf(hasBrowser)('is on the page of its study, and in a frame', async () => {
    chromium = await launchBrowser();
    const shown = await openPage(chromium.browser);
    for (const path of [`/#/study/${studyId}`, '/embed/clamped']) {
      await shown.goto(served.address + path);
      await shown.waitForFunction(`(function text(node) {
        return node.textContent + [...node.querySelectorAll('*')]
          .map((one) => (one.shadowRoot === null ? '' : text(one.shadowRoot))).join('');
      })(document.body).match(/\\d\\s*minutes/) !== null`, { polling: 100 });
    }
  });

  it.runIf(hasPython())('is read by the client in Python', async () => {
    const program = stage.write('read.py', [
      'from keelson import subscribe',
      `release = next(iter(subscribe("${served.url}", "clamped")))`,
      'for answer in release.numbers.values():',
      '    for one in answer:',
      '        print(one.name, one.kind, one.unit, one.least, one.most)',
    ].join('\n'));
    const { stdout, stderr } = await stage.run([], {
      program: python, command: program, directory: stage.folder,
      environment: { PYTHONPATH: `${copy}/clients/python`, PYTHONDONTWRITEBYTECODE: '1' },
    });
    expect([stdout, stderr]).toEqual(['delay mean minutes 0.0 60.0\n', '']);
  });

  it.runIf(hasGo())('is read by the client in Go', async () => {
    addGoClient(stage);
    const program = buildGo(stage, 'read', `package main
import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"keelson"
	"os"
)
func main() {
	key, _ := hex.DecodeString(os.Args[1])
	study, _ := hex.DecodeString(os.Args[2])
	body, _ := base64.StdEncoding.DecodeString(os.Args[3])
	signature, _ := base64.StdEncoding.DecodeString(os.Args[4])
	answers, err := keelson.VerifyRelease(key, study, body, signature)
	if err != nil {
		panic(err)
	}
	for _, one := range answers[0].Numbers {
		fmt.Println(one.Name, one.Kind, one.Unit, one.Least, one.Most)
	}
}
`);
    const { body, signature } = log.find(({ type }) => type === 'release')!;
    const { stdout } = await stage.run([served.serverKey, studyId, body!, signature!], {
      program: 'env', command: program, directory: stage.folder,
    });
    expect(stdout).toBe('delay mean minutes 0 60\n');
  }, 120_000);
});

function hasPython(): boolean {
  try {
    execFileSync(python, ['-c', 'import nacl.signing, websockets'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
