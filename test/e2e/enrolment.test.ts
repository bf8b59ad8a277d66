import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, type Ended, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
const issuer = stage.path('issuer.key');
const input = stage.write('rows.csv', '3,200\n');
let served: Served;

beforeAll(async () => {
  const { stdout } = await stage.run(['keys', 'enrol', issuer, '--new', '--json']);
  const key = (JSON.parse(stdout) as { readonly issuer: string }).issuer;
  const study = meanStudy(
    'members', { epoch: '{ every: 1h }', admission: `{ enrolment: { issuer: "${key}" } }` },
  );
  const rated = meanStudy('rated', {
    epoch: '{ every: 1h }', participation: 'public',
      admission: '{ rate: { contributorKeys: 1, per: 366d } }',
  });
  served =
    await stage.serve([stage.write('members.yaml', study), stage.write('rated.yaml', rated)]);
});

afterAll(() => stage.end());

/** A new contributor. @returns its key file and its public key. */
async function person(name: string): Promise<{
  readonly file: string; readonly publicKey: string;
}> {
  const file = stage.path(`${name}.key`);
  const { stdout } = await stage.run(['keys', 'new', file, '--json']);
  return { file, publicKey: (JSON.parse(stdout) as { readonly publicKey: string }).publicKey };
}

/** Tokens as `enrol` prints them, in a file. */
async function tokensFor(
  name: string, keys: readonly string[], expires = '1h', study = 'members',
): Promise<string> {
  const flags = keys.flatMap((key) => ['--key', key]);
  const { stdout } =
    await stage.run(['keys', 'enrol', issuer, ...flags, '--study', study, '--expires', expires]);
  return stage.write(`${name}.tokens`, stdout);
}

function contribute(key: string, tokens?: string, study = 'members'): Promise<Ended> {
  const enrolment = tokens === undefined ? [] : ['--enrolment', tokens];
  return stage.run([
    'contribute', served.url, '--study', study, '--key', key, '--input', input, '--json',
    ...enrolment,
  ]);
}

describe('a study that admits by enrolment', () => {
  it('takes the rows of a key with its token, and refuses the same key without', async () => {
    const alice = await person('alice');
    const without = await contribute(alice.file);
    expect([without.status, without.stdout]).toEqual([2, '']);
    expect(without.stderr).toContain('enrolment token');
    const other = await person('bob');
    const tokens = await tokensFor('both', [alice.publicKey, other.publicKey]);
    // The rows of the first run waited in the outbox for a token; they are the whole contribution
    // to this epoch.
    const taken = await contribute(alice.file, tokens);
    expect(taken.stderr).toContain('rows of an earlier run are settled: accepted');
    expect(JSON.parse(taken.stdout))
      .toMatchObject({ outcome: 'refused', code: 'contribution-full' });
    const bobs = await contribute(other.file, tokens);
    expect([bobs.status, JSON.parse(bobs.stdout)])
      .toMatchObject([0, { outcome: 'accepted', rows: 1 }]);
  });

  it('refuses the token of another key, of another study, and one that is '
    + 'over', { tags: ['slow'] }, async () => {
    const [carol, dave] = await Promise.all([person('carol'), person('dave')]);
    const daves = await tokensFor('dave', [dave.publicKey]);
    // The command itself would not send it: the line names another key. The server does not believe
    // the line.
    expect((await contribute(carol.file, daves)).stderr).toContain('holds no token for');
    const { stdout } =
      await stage.run(['keys', 'enrol', issuer, '--key', dave.publicKey, '--expires', '1h']);
    const stolen = stage.write('stolen.tokens', stdout.trim().split(' ')[1]!);
    expect((await contribute(carol.file, stolen)).stderr).toContain('signed by the issuer');
    const elsewhere = await tokensFor('elsewhere', [carol.publicKey], '1h', 'others');
    expect((await contribute(carol.file, elsewhere)).stderr).toContain('signed by the issuer');
    const brief = await tokensFor('brief', [carol.publicKey], '1ms');
    expect((await contribute(carol.file, brief)).stderr).toContain('has expired');
  });
});

describe('a study with a rate', () => {
  it('takes one new key in the period, keeps taking what that one sends, and lets the next one '
    + 'wait', async () => {
    const [erin, frank] = await Promise.all([person('erin'), person('frank')]);
    expect((await contribute(erin.file, undefined, 'rated')).status).toBe(0);
    const waiting = stage.start(
      ['contribute', served.url, '--study', 'rated', '--key', frank.file, '--input', input]);
    await waiting.says('takes no more new keys for now');
    // Its contribution is complete: the key itself is not held back.
    expect((await contribute(erin.file, undefined, 'rated')).stdout).toContain('contribution-full');
    await waiting.interrupt();
  });
});
