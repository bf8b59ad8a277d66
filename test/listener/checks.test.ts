import { describe, expect, it } from 'vitest';
import { protocolLimits } from '../../src/base/limits.js';
import { heldChecks } from '../support/check-stage.js';
import type { WireContributor } from '../support/wire-client.js';
import { eventually, startRig, type Rig } from './harness.js';

/** Notes what reaches the hub, in order. */
function noteCalls(rig: Rig): string[] {
  const calls: string[] = [];
  const submit = rig.hub.submit.bind(rig.hub);
  rig.hub.submit = (batch) => {
    calls.push(`batch ${batch.sequence}`);
    return submit(batch);
  };
  const withdraw = rig.hub.withdraw.bind(rig.hub);
  rig.hub.withdraw = (request) => {
    calls.push('withdrawal');
    return withdraw(request);
  };
  return calls;
}

/** @returns a batch of the contributor whose signature is for other bytes. */
const forged = (contributor: WireContributor, sequence: bigint) =>
  ({ ...contributor.batch(sequence), signature: contributor.batch(99n).signature });

describe('while signatures are checked elsewhere', () => {
  it('a bad signature between two good ones is refused, and both count in order', async () => {
    const checks = heldChecks();
    const rig = await startRig({ checks });
    const calls = noteCalls(rig);
    const contributor = await rig.contributor();
    contributor.client.send(contributor.batch(1n));
    contributor.client.send(forged(contributor, 2n));
    contributor.client.send(contributor.batch(3n));
    await eventually(() => checks.held === 3);
    expect(rig.metrics.totals).toMatchObject({ queuedBatches: 3 });
    checks.go();
    expect(await contributor.refusal()).toMatchObject({ code: 'bad-signature', channel: 1 });
    expect((await contributor.client.next('ack')).accepted).toEqual([1n, 3n]);
    expect(calls).toEqual(['batch 1', 'batch 3']);
    expect(rig.metrics.totals).toMatchObject({ queuedBatches: 0, queuedBytes: 0 });
  });

  it('the metrics say on how many threads', async () => {
    const rig = await startRig({ checks: heldChecks() });
    expect(await rig.metrics.registry.render()).toContain('\nkeelson_check_threads 1\n');
  });

  it('a batch counts against the credit from its arrival on', async () => {
    const checks = heldChecks();
    const rig = await startRig({ checks, limits: { creditBatches: 2 } });
    const contributor = await rig.contributor();
    for (let i = 1n; i <= 3n; i++) contributor.client.send(contributor.batch(i));
    expect(await contributor.refusal()).toMatchObject({ code: 'credit-exceeded' });
    expect(checks.held).toBe(2);
    checks.go();
    expect((await contributor.client.next('ack')).accepted).toEqual([1n, 2n]);
    // A refused one gives its credit back, too.
    for (let i = 0; i < 2; i++) {
      contributor.client.send(forged(contributor, 3n));
      await eventually(() => checks.held === 1);
      checks.go();
      expect(await contributor.refusal()).toMatchObject({ code: 'bad-signature' });
    }
    contributor.client.send(contributor.batch(3n));
    contributor.client.send(contributor.batch(4n));
    await eventually(() => checks.held === 2);
    checks.go();
    expect((await contributor.client.next('ack')).accepted).toEqual([3n, 4n]);
  });

  it('checks count as work of the journal, which may be too much', async () => {
    const checks = heldChecks();
    const rig = await startRig({ checks });
    const contributor = await rig.contributor();
    // As if so many batches of others were being checked.
    rig.metrics.totals.queuedBatches += protocolLimits.journalQueueBatches;
    const refused = await contributor.send(1n);
    expect(refused.rejections).toMatchObject([{ code: 'overloaded', retryable: true }]);
    rig.metrics.totals.queuedBatches -= protocolLimits.journalQueueBatches;
    contributor.client.send(contributor.batch(1n));
    await eventually(() => checks.held === 1);
    checks.go();
    expect((await contributor.client.next('ack')).accepted).toEqual([1n]);
  });

  it('a withdrawal keeps its place among the batches of its sender', async () => {
    const checks = heldChecks();
    const rig = await startRig({ checks });
    const calls = noteCalls(rig);
    const contributor = await rig.contributor();
    contributor.client.send(contributor.batch(1n));
    contributor.client.send(contributor.withdrawal(7n));
    contributor.client.send(contributor.batch(2n));
    await eventually(() => checks.held === 2);
    expect(calls).toEqual([]);
    checks.go();
    await eventually(() => calls.length === 3);
    expect(calls).toEqual(['batch 1', 'withdrawal', 'batch 2']);
  });

  it('a key that is excluded in the middle is excluded from there on', async () => {
    const checks = heldChecks();
    const rig = await startRig({ checks });
    const contributor = await rig.contributor();
    const submit = rig.hub.submit.bind(rig.hub);
    rig.hub.submit = (batch) => (batch.sequence < 3n
      ? submit(batch) : Promise.resolve({ verdict: 'rejected', code: 'quarantined' }));
    for (let i = 1n; i <= 4n; i++) contributor.client.send(contributor.batch(i));
    await eventually(() => checks.held === 4);
    checks.go();
    const answers = [await contributor.client.next('ack')];
    if (answers[0]!.accepted.length + answers[0]!.rejections.length < 4) {
      answers.push(await contributor.client.next('ack'));
    }
    expect(answers.flatMap(({ accepted }) => accepted)).toEqual([1n, 2n]);
    expect(answers.flatMap(({ rejections }) => rejections)).toMatchObject([
      { sequence: 3n, code: 'quarantined' }, { sequence: 4n, code: 'quarantined' },
    ]);
  });

  it('a listener that closes answers what is being checked', async () => {
    const checks = heldChecks();
    const rig = await startRig({ checks });
    const contributor = await rig.contributor();
    contributor.client.send(contributor.batch(1n));
    await eventually(() => checks.held === 1);
    const closing = rig.listener.close();
    contributor.client.send(contributor.batch(2n));
    expect((await contributor.client.next('ack')).rejections)
      .toMatchObject([{ sequence: 2n, code: 'shutting-down', retryable: true }]);
    checks.go();
    expect((await contributor.client.next('ack')).accepted).toEqual([1n]);
    await closing;
    expect(await contributor.client.closed()).toBe(1001);
  });

  it('a batch counts although its socket is gone', async () => {
    const checks = heldChecks();
    const rig = await startRig({ checks });
    const contributor = await rig.contributor();
    contributor.client.send(contributor.batch(1n));
    contributor.client.send(forged(contributor, 2n));
    await eventually(() => checks.held === 2);
    contributor.client.ws.terminate();
    await eventually(() => rig.metrics.totals.sockets === 0);
    checks.go();
    await eventually(() => rig.metrics.totals.queuedBatches === 0);
    expect(rig.metrics.accepted.total()).toBe(1);
    const again = rig.contributor();
    await expect(again).resolves.toBeDefined();
  });
});
