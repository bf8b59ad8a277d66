import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Alert } from '../../server/alerts/alert.js';
import type { AlertChannel } from '../../server/alerts/channels.js';
import { parseSettingsText } from '../../server/study-file/settings.js';
import { watchForAlerts } from '../../server/alerts/watch.js';
import type { Logger } from '../../server/base/logger.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import type { Store } from '../../server/store/contract.js';
import { Bench, contribute, define, everyMs } from '../support/hub-bench.js';
import { settle } from '../support/virtual-clock.js';

let bench: Bench;
let got: Alert[];
/** What the channel throws, if it is not to take the alert. */
let broken: Error | null;
const channel: AlertChannel = {
  name: 'webhook',
  async send(alert) {
    if (broken !== null) throw broken;
    got.push(alert);
  },
};
beforeEach(() => {
  bench = new Bench();
  got = [];
  broken = null;
});
afterEach(() => bench.close());

const logger = (): Logger => {
  const log = (level: string) => (fields: object, text: string): void => {
    bench.logs.push(`${level}: ${text} ${JSON.stringify(fields)}`);
  };
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
};
const watch = (hub: RunningHub): (() => void) => watchForAlerts(
  { silentEpochs: 3 }, { hub, clock: bench.clock, logger: logger() }, [channel]);
const kinds = (): readonly string[] => got.map(({ kind }) => kind);

describe('alerts', () => {
  it('tell of a refusal once, until the question was answered in between', async () => {
    const hub = await bench.start([define()]);
    const { studyId } = hub.studies()[0]!;
    const stop = watch(hub);
    for (const people of [0, 0, 400, 0]) {
      await contribute(hub, studyId, people, hub.study(studyId)!.epoch);
      await bench.clock.advance(everyMs);
      await hub.settled();
    }
    await settle();
    expect(kinds()).toEqual(['answer-refused', 'answer-refused']);
    expect(got[0]!.text).toContain('delays refused its answer of epoch 1 (centre-not-found): no');
    expect(got[1]!.text).toContain('of epoch 4 (centre-not-found)');
    expect(got[0]!.remedy).toContain('longer epochs');
    stop();
    await hub.close();
  });

  it('tell of a budget at four fifths and at its end', async () => {
    const study = define({ budget: { epsilon: 6, delta: 1e-5, rule: 'zcdp', scope: 'study' } });
    const hub = await bench.start([study]);
    const stop = watch(hub);
    for (let epoch = 0; epoch < study.releases; epoch++) {
      await contribute(hub, hub.studies()[0]!.studyId, 400, BigInt(epoch + 1));
      await bench.clock.advance(everyMs);
      await hub.settled();
    }
    await settle();
    expect(kinds()).toEqual(['budget-nearly-spent', 'budget-spent']);
    expect(got[0]!.text).toMatch(/^delays has spent epsilon \d\.\d+ of 6\.$/);
    stop();
    await hub.close();
  });

  it('tell of a study that has no release for as many epochs as asked', async () => {
    const hub = await bench.start([define({ participation: 'public' })]);
    const stop = watch(hub);
    // Under public participation an epoch of nobody has no release.
    await bench.clock.advance(4 * everyMs);
    expect(kinds()).toEqual([]);
    await bench.clock.advance(everyMs);
    expect(kinds()).toEqual(['no-release']);
    await bench.clock.advance(5 * everyMs);
    expect(kinds()).toEqual(['no-release']);
    stop();
    await hub.close();
  });

  it('tell of a log that does not verify', async () => {
    let isDamaged = false;
    bench.wrapStore = (store) => Object.assign(Object.create(store) as Store, {
      releases: async (...words: Parameters<Store['releases']>) => {
        const page = await store.releases(...words);
        if (!isDamaged) return page;
        return page.map((each) => ({ ...each, signature: new Uint8Array(64) }));
      },
    });
    const hub = await bench.start(
      [define({ participation: 'public', epoch: { contributors: 400 } })]);
    await contribute(hub, hub.studies()[0]!.studyId, 400, 1n);
    await hub.settled();
    const stop = watch(hub);
    await settle();
    expect(got).toEqual([]);
    isDamaged = true;
    await bench.clock.advance(2 * 24 * 3_600_000);
    expect(kinds()).toEqual(['log-not-verified']);
    expect(got[0]!.text).toContain('the signature of release 0');
    stop();
    await hub.close();
  });

  it('wait for a receiver that is away, in order, and log no message of it', async () => {
    const hub = await bench.start([define()]);
    const stop = watch(hub);
    broken = new Error('POST https://hooks.example.org/secret failed');
    await bench.clock.advance(everyMs);
    await hub.settled();
    await settle();
    expect(got).toEqual([]);
    broken = null;
    await bench.clock.advance(60_000);
    expect(kinds()).toEqual(['answer-refused']);
    expect(bench.logs.filter((line) => line.includes('could not be sent'))).toHaveLength(1);
    expect(bench.logs.join('\n')).not.toContain('secret');
    stop();
    await hub.close();
  });

  it('are given up after a day, and the log says so', async () => {
    const hub = await bench.start([define({ budget: {
      epsilon: 3, delta: 1e-5, rule: 'zcdp', scope: 'study',
    } })]);
    const stop = watch(hub);
    broken = new Error('away');
    await bench.clock.advance(5 * 24 * 3_600_000);
    await hub.settled();
    broken = null;
    await bench.clock.advance(24 * 3_600_000);
    expect(got).toEqual([]);
    expect(bench.logs.filter((line) => line.includes('an alert was given up')).length)
      .toBeGreaterThanOrEqual(3);
    stop();
    await hub.close();
  });
});

describe('the alerts of a settings file', () => {
  const secrets: Readonly<Record<string, string>> = {
    'webhook.url': 'https://hooks.example.org/T0/B0/secret', 'wrong.url': 'hooks.example.org',
    'relay.password': 'a password',
  };
  const parse = (text: string) =>
    parseSettingsText(`alerts:\n  ${text.replaceAll('\n', '\n  ')}\n`, 'settings.yaml')
      .alerts((path) => secrets[path]!);
  const email = 'email: { relay: smtp://mail:587, from: k@example.org, to: [o@example.org]';

  it('names the receivers', () => {
    expect(parse(`webhook: { url-file: webhook.url }\n${email}, user: k, `
      + 'password-file: relay.password }\nsilent-epochs: 5')).toEqual({
      webhook: { url: 'https://hooks.example.org/T0/B0/secret' }, silentEpochs: 5,
      email: {
        relay: 'smtp://mail:587', from: 'k@example.org', to: ['o@example.org'], user: 'k',
        password: 'a password',
      },
    });
  });

  it.each([
    ['silent-epochs: 3', 'settings.yaml, line 1: alerts says nobody who is told; give'],
    ['webhook: { url-file: wrong.url }', 'names a file without an address; write one line'],
    [`${email}, user: k }`, 'has user without password-file, or the reverse; give both, or'],
    ['webhook: { url: x }', 'is not a key that is known here'],
    ['email: { relay: mail, from: k@example.org, to: [o@example.org] }', 'smtp://host:port'],
    ['email: { relay: smtp://mail:25, from: k, to: [o@example.org] }', 'give an e-mail address'],
    ['email: { relay: smtp://mail:25, from: k@example.org, to: [] }', 'give a list of 1 to 16'],
    [`${email} }\nsilent-epochs: 0`, 'give a whole number from 1 to 1000'],
  ])('%s is refused, with the remedy', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });
});
