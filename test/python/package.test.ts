import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { root } from '../support/sources.js';
import { meanStudy } from '../support/study-files.js';

/** Debian's, whose packages these are; another one in the path knows nothing of them. */
const python = '/usr/bin/python3';
const packages = 'python3-websockets python3-nacl python3-cryptography python3-numpy';
const environment = { PYTHONPATH: `${root}clients/python`, PYTHONDONTWRITEBYTECODE: '1' };

function canImport(modules: string): boolean {
  try {
    execFileSync(python, ['-c', `import ${modules}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const runs = canImport('cryptography, nacl.signing, numpy, websockets');
const checksTypes = runs && canImport('mypy');
// The title of a suite that is skipped is not shown.
if (!runs || !checksTypes) {
  const missing = runs ? 'mypy' : `${packages} mypy`;
  process.stderr.write(`${runs ? 'The types of clients/python are' : 'clients/python is'} not `
    + `tested. To test: apt-get install ${missing}\n`);
}

describe.skipIf(!runs)('the client in clients/python', () => {
  const stage = new Stage();
  afterAll(() => stage.end());

  it('passes its own tests', async () => {
    const words = ['unittest', 'discover', '-s', `${root}clients/python/tests`];
    const { status, stderr } =
      await stage.run(words, { program: python, command: '-m', environment });
    expect([status, stderr]).toEqual([0, expect.stringMatching(/Ran \d+ tests[^]*OK/)]);
  }, 60_000);

  it.skipIf(!checksTypes)('has types without an error', { timeout: 60_000 }, async () => {
    const words = ['mypy', '--strict', '--cache-dir', stage.path('mypy'),
      `${root}clients/python/keelson`];
    const { status, stdout } = await stage.run(words, { program: python, command: '-m' });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^Success: no issues found/)]);
  });

  it('passes the conformance kit', { tags: ['slow'], timeout: 480_000 }, async () => {
    const words = ['conform', '--json', '--', python, '-m', 'keelson.conform'];
    const { stdout } = await stage.run(words, { environment });
    const { failed, cases } = JSON.parse(stdout) as {
      failed: number; cases: { outcome: string; text?: string }[];
    };
    expect(cases.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(failed).toBe(0);
    const leftOut = cases.filter(({ outcome }) => outcome === 'left-out');
    expect(new Set(leftOut.map(({ text }) => text)))
      .toEqual(new Set(['the program does not list sealed in "can"']));
  });

  it('sends once: one request, whose answer does not tell how the key stands', async () => {
    const study = stage.write('once.yaml', meanStudy('sent-once', {
      epoch: '{ contributors: 2 }', participation: 'public',
    }));
    const { url, address } = await stage.serve([study], { data: 'once-data' });
    const { studies: [{ id }] } = await (await fetch(`${address}/v1/studies`)).json() as {
      studies: [{ id: string }];
    };
    const command = stage.write('once.py', [
      'from keelson import OnceContributor',
      'for name in ("sent-once", "sent-once", STUDY_ID):',
      '    with OnceContributor(URL, name, "bob.key", "bob.outbox") as contributor:',
      '        settled = contributor.contribute([[12, 640]])',
      '        print(settled.code, settled.epoch)',
    ].join('\n').replace('URL', JSON.stringify(url)).replace('STUDY_ID', JSON.stringify(id)));
    const { status, stdout, stderr } =
      await stage.run([], { program: python, command, environment, directory: stage.folder });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toBe('accepted 1\nnot-counted 1\nnot-counted 1\n');
  }, 60_000);

  it('runs the example of its README in at most 10 lines', async () => {
    const page = readFileSync(`${root}clients/python/README.md`, 'utf8');
    const [example, more] = [...page.matchAll(/```python\n([^]*?)```/g)].map(([, code]) => code!);
    expect(example!.trim().split('\n').length).toBeLessThanOrEqual(10);
    const study = stage.write('study.yaml', meanStudy('flight-delays', {
      epoch: '{ contributors: 1 }', participation: 'public',
    }));
    const { url } = await stage.serve([study]);
    const command = stage.write('example.py',
      `${example!}print("---")\n${more!}`.replace('ws://127.0.0.1:8787', url));
    const { status, stdout, stderr } =
      await stage.run([], { program: python, command, environment, directory: stage.folder });
    expect([status, stderr]).toEqual([0, '']);
    const [first, numbers] = stdout.split('---\n');
    expect(first).toMatch(/^1 \{'mean': (None|\[.+, .+\])\}\nquestion .*value.*\n(mean .*\n)+$/);
    if (!first!.includes('None')) expect(numbers).toMatch(/^delay_minutes .*\ndistance_miles .*\n$/);
  }, 60_000);
});
