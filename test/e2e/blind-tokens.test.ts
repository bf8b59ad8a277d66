// @module-tag slow
import { chmodSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createContributor, readSeed } from '../../client/index.js';
import { requestToken } from '../../client/tokens.js';
import { Stage, type Ended, type LiveCommand, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
const folder = stage.path('tokens');
const input = stage.write('rows.csv', '3,200\n');
let issuer: { readonly command: LiveCommand; readonly url: string };
let served: Served;
let codes: readonly string[];

beforeAll(async () => {
  const words = ['--new', '--name', 'tokens.example.org', '--per', '366d', '--periods', '1'];
  const made = await stage.run(['keys', 'issuer', folder, ...words]);
  const printed = await stage.run(['keys', 'issuer', folder, '--codes', '3']);
  codes = printed.stdout.trim().split('\n').map((code, i) => {
    const file = stage.write(`code-${i}`, code);
    chmodSync(file, 0o600);
    return file;
  });
  issuer = await startIssuer();
  const facts = meanStudy('survey', { epoch: '{ every: 1h }' }).replace('late: next\n', '');
  served = await stage.serve([stage.write('survey.yaml', facts + made.stdout)]);
});

afterAll(() => stage.end());

async function startIssuer(): Promise<typeof issuer> {
  const command = stage.start(['keys', 'issuer', folder, '--port', '0', '--json']);
  const { address } = await command.line(({ type }) => type === 'listening');
  return { command, url: String(address) };
}

async function newKey(name: string): Promise<string> {
  const file = stage.path(`${name}.key`);
  await stage.run(['keys', 'new', file]);
  return file;
}

function contribute(key: string, ...more: string[]): Promise<Ended> {
  return stage.run([
    'contribute', served.url, '--study', 'survey', '--key', key, '--input', input, '--json',
    ...more,
  ]);
}

it('lets a person contribute with one key in a period, also after kills of both servers',
  async () => {
    const [alice, second] = await Promise.all([newKey('alice'), newKey('second')]);
    expect((await contribute(alice)).stderr).toContain('enrolment token');
    const words = ['--issuer', issuer.url, '--code-file', codes[0]!];
    const got =
      await stage.run(['keys', 'token', served.url, '--study', 'survey', '--key', alice, ...words]);
    expect(got.stderr).toContain('a token until');
    // Its record is durable before the answer leaves. A kill loses neither.
    await issuer.command.kill();
    issuer = await startIssuer();
    const from = ['--token-from', issuer.url, '--code-file', codes[0]!];
    const taken = await contribute(alice, ...from);
    expect(taken.stderr).toContain('rows of an earlier run are settled: accepted');
    const refused = await contribute(second, ...from);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('another key')]);
    const stolen = stage.write('stolen.token', got.stdout.trim().split(' ')[1]!);
    expect((await contribute(second, '--enrolment', stolen)).stderr).toContain('enrolment token');
  });

it('waits for an issuer that is down, and contributes once it is back', async () => {
  const key = await newKey('bob');
  const code = readFileSync(codes[1]!, 'utf8');
  const seed = readSeed(readFileSync(key));
  await issuer.command.kill();
  let tries = 0;
  const contributor = createContributor({
    url: served.url, study: 'survey', seed, enrolment: async (study) => {
      tries += 1;
      if (tries === 2) issuer = await startIssuer();
      return (await requestToken({ issuer: issuer.url, code, seed, study })).enrolment;
    },
  });
  expect((await contributor.contribute([[3, 200]])).kind).toBe('accepted');
  expect(tries).toBe(2);
  await contributor.close();
});
