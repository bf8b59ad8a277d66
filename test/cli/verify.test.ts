import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/base/bytes.js';
import { SeriesReader } from '../../src/base/running-totals.js';
import { signing } from '../../src/signing/node.js';
import { keelson } from '../support/command.js';
import { sampleLog } from '../support/log-samples.js';
import { scratchFolder } from '../support/scratch.js';
import {
  document, doubtfulBody, questionsDocument, server, type ShortRelease,
} from '../support/wire-samples.js';

const scratch = scratchFolder('verify');

const key = toHex(server.publicKey);
const log = await sampleLog(3);
const text = `${log.lines.join('\n')}\n`;
const path = join(scratch, 'releases.log');
writeFileSync(path, text);

describe('keelson verify', () => {
  it('says what the last release says of its rows', async () => {
    const { outcome } = doubtfulBody.answers[0]!;
    const doubtful = await sampleLog(1, { change: (body) => ({ ...body, outcome }) });
    const input = `${doubtful.lines.join('\n')}\n`;
    const { stdout } = await keelson(['verify', '-', '--server-key', key], { stdin: input });
    expect(stdout).toContain('note: Column delay_minutes reaches farther to one side');
  });

  it('shows every answer by its question, with keys that are safe to show', async () => {
    const by = { columns: ['region'], groupsMax: 1, discover: { top: 9, prefilter: 1 } };
    const [delays, regions, quiet] = questionsDocument.questions;
    const logged = await sampleLog(1, {
      facts: {
        ...questionsDocument, questions: [delays!, regions!, quiet!, {
          ...regions!, name: 'found', by,
        }].map((question) => ({ ...question, part: 25 })),
      },
      changeAnswers: (body) => ({
        ...body,
        answers: [...body.answers, {
          question: 'found', estimator: 'count', parameters: '{}', rhoAmount: 0n, deltaAmount: 0n,
          outcome: {
            kind: 'value' as const, estimate: [41], shape: [1], groups: [['north']],
            uncertainty: { kind: 'none' as const },
          },
        }],
      }),
    });
    const input = `${logged.lines.join('\n')}\n`;
    const shown = await keelson(['verify', '-', '--server-key', key], { stdin: input });
    expect(shown.status).toBe(0);
    expect(shown.stdout).toMatch(/delays: prime of minutes/);
    expect(shown.stdout).toMatch(/minutes +8\.3 +7\.3 to 9\.3/);
    expect(shown.stdout).toMatch(/regions: count by late, region/);
    expect(shown.stdout).toMatch(/"false", "north" +251 +238 to 264/);
    expect(shown.stdout).toMatch(/"false", "other" +no answer/);
    expect(shown.stdout).toMatch(/no answer \(subsamples-disagree\): groups of rows disagree/);
    expect(shown.stdout).toMatch(/found: count by region\n.*\n"north" +41/);
    const { stdout } = await keelson(['verify', '-', '--server-key', key, '--json'], {
      stdin: input,
    });
    expect(JSON.parse(stdout)).toMatchObject({ lastAnswers: {
      delays: { outcome: 'value', estimate: [8.25], labels: ['minutes'] },
      regions: {
        answered: [true, true, false, true, true, true], estimate: [251, 198, null, 149, -9, 12],
      },
      quiet: { outcome: 'refused', reason: 'subsamples-disagree' },
    } });
  });

  it('shows the last answer with both of its intervals, as estimate does', async () => {
    const { outcome } = doubtfulBody.answers[0]!;
    const doubtful = await sampleLog(1, { change: (body) => ({ ...body, outcome }) });
    const input = `${doubtful.lines.join('\n')}\n`;
    const { stdout } = await keelson(['verify', '-', '--server-key', key], { stdin: input });
    expect(stdout).toMatch(/estimate +95 % interval +if nobody lies/);
    expect(stdout).toMatch(/delay_minutes +\S+ +\S+ to \S+ +\S+ to \S+/);
    expect(stdout).toContain('the 95 % interval holds also if up to 10 % lie');
  });

  it('verifies a log against the key', async () => {
    const { status, stdout } = await keelson(['verify', path, '--server-key', key, '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      consistent: true, authentic: true, count: 3, studyId: toHex(log.studyId), serverKey: key,
      state: 'ended', firstFault: null,
    });
    expect((await keelson(['verify', path, '--server-key', key])).stdout)
      .toContain('verified     every signature');
  });

  it('reads standard input', async () => {
    expect((await keelson(['verify', '-', '--server-key', key], { stdin: text })).status).toBe(0);
  });

  it('prints the fingerprint and ends with 1 when no key is given', async () => {
    const { status, stdout } = await keelson(['verify', path]);
    expect(status).toBe(1);
    expect(stdout).toContain('UNVERIFIED');
    expect(stdout).toMatch(/fingerprint {2}([0-9a-f]{4} ){7}[0-9a-f]{4}/);
    const json = await keelson(['verify', path, '--json']);
    expect([json.status, JSON.parse(json.stdout)])
      .toMatchObject([1, { consistent: true, authentic: false }]);
  });

  it('ends with 1 for another key, a cut log and a changed byte', async () => {
    const other = toHex(signing.createSigner(new Uint8Array(32).fill(3)).publicKey);
    const wrongKey = await keelson(['verify', path, '--server-key', other]);
    expect(wrongKey).toMatchObject({ status: 1 });
    expect(wrongKey.stdout).toContain('(server-key-mismatch)');
    const headless = `${log.lines.slice(0, -1).join('\n')}\n`;
    const cut = await keelson(['verify', '-', '--server-key', key], { stdin: headless });
    expect(cut).toMatchObject({ status: 1 });
    expect(cut.stdout).toContain('(head-missing)');
    const at = text.indexOf('"body":"') + 40;
    const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
    const broken =
      await keelson(['verify', '-', '--server-key', key, '--json'], { stdin: changed });
    expect(broken.status).toBe(1);
    expect(JSON.parse(broken.stdout)).toMatchObject({ authentic: false, firstFault: { line: 2 } });
  });

  it('ends with 2 for a missing file and an unusable key', async () => {
    const none = await keelson(['verify', join(scratch, 'none'), '--server-key', key]);
    expect(none).toMatchObject({ status: 2, stdout: '' });
    expect(await keelson(['verify', path, '--server-key', 'abc']))
      .toMatchObject({ status: 2, stdout: '' });
    expect(await keelson(['verify'])).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('keelson verify --totals', () => {
  /** Answers 10 and 100, then 20 and 200, and so on; the third is refused. */
  const changing = (body: ShortRelease): ShortRelease => ({
    ...body,
    outcome: body.index === 2n
      ? { kind: 'refused', reason: 'interrupted', text: 'the server stopped' }
      : {
        kind: 'value', estimate: [10, 100].map((each) => each * Number(body.index + 1n)),
        shape: [2], uncertainty: { kind: 'gaussian', standardDeviation: [3, 4] },
      },
  });
  const logged = sampleLog(5, { change: changing }).then(({ lines }) => `${lines.join('\n')}\n`);
  const verified = async (...flags: readonly string[]): ReturnType<typeof keelson> =>
    keelson(['verify', '-', '--server-key', key, ...flags], { stdin: await logged });

  it('adds up all answers, with the exact deviation of their noise', async () => {
    const { status, stdout } = await verified('--totals', '--json');
    const { series } = JSON.parse(stdout) as { readonly series: readonly unknown[] };
    expect(status).toBe(0);
    expect(series).toMatchObject([{
      question: 'answer',
      numbers: [
        { place: 0, total: { value: 120, deviation: 6, answered: 4, missing: 1 } },
        { place: 1, total: { value: 1_200, deviation: 8, answered: 4, missing: 1 } },
      ],
    }]);
    const people = (await verified('--totals')).stdout;
    expect(people).toContain('derived from 4 published answers, at no privacy cost');
    expect(people).toMatch(/delay_minutes +30 +1\.5 +120 +6 /);
  });

  it('adds up the newest releases', async () => {
    const { stdout } = await verified('--totals', '--window', '3', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ series: [{ numbers: [
      { window: { value: 90, answered: 2, missing: 1 }, total: { value: 120 } }, {},
    ] }] });
    const people = (await verified('--totals', '--window', '3')).stdout;
    expect(people).toMatch(/delay_minutes +45 +2\.1 +90 +4\.2 /);
    expect(await verified('--window', '3')).toMatchObject({ status: 2 });
  });

  it('adds up running totals, of which the noise is shared', async () => {
    // Of a separation of 2: c = 1, 1/2. The epochs had 8, 4, 2 and 6 people, the noise was 0.
    const released = [8, 8, 4, 7];
    const reader = new SeriesReader(2, 1);
    const totals = released.map((each) => reader.take([each]));
    const running = (body: ShortRelease): ShortRelease => {
      const at = Number(body.index);
      return {
        ...body, epoch: body.index + 1n, mechanisms: JSON.stringify([{
          kind: 'gaussian', name: 'count', cohort: 'all', dimension: 1, sensitivity: 1, sigma: 2,
          grid: 2 ** -20,
        }]),
        outcome: {
          kind: 'value', estimate: Array.from(totals[at]!.totals), shape: [1],
          running: { position: at, released: [released[at]!] },
          uncertainty: { kind: 'gaussian', standardDeviation: [2 * totals[at]!.deviation] },
        },
      };
    };
    const { lines } = await sampleLog(4, {
      change: running, facts: { ...document, running: { separation: 2 } },
    });
    const stdin = `${lines.join('\n')}\n`;
    const { status, stdout } = await keelson(
      ['verify', '-', '--server-key', key, '--totals', '--window', '2', '--json'], { stdin },
    );
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { series: [{
      question: 'answer', running: true, numbers: [{
        total: { value: 20, answered: 4, missing: 0 }, window: { value: 8, answered: 2 },
      }],
    }] }]);
    const people = await keelson(['verify', '-', '--server-key', key, '--totals'], { stdin });
    expect(people.stdout).toContain('derived from 4 published answers, at no privacy cost');
    expect(people.stdout).not.toContain('not smoothed or added up');
  });

  it('says why there are none', async () => {
    const pure = (body: ShortRelease): ShortRelease => ({
      ...body, outcome: { kind: 'value', estimate: [1], shape: [1], uncertainty: { kind: 'none' } },
    });
    const { lines } = await sampleLog(2, { change: pure });
    const { stdout } = await keelson(
      ['verify', '-', '--server-key', key, '--totals'], { stdin: `${lines.join('\n')}\n` },
    );
    expect(stdout).toContain('not smoothed or added up: its answers do not state Gaussian noise');
  });
});
