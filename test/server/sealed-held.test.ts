import { afterEach, describe, expect, it } from 'vitest';
import { servers } from '../../src/sealed/shares/body.js';
import { messageHeadBytes } from '../../src/sealed/steps/party.js';
import type { PeerFrame } from '../../src/wire/peer-messages.js';
import { everyMs, SealedNodes, type NodesStudy } from '../support/sealed-nodes.js';

let nodes: SealedNodes | undefined;
afterEach(async () => {
  await nodes?.close();
  nodes = undefined;
});

const count: NodesStudy = { question: 'estimator: count\nparameters: { threshold: 25 }' };
const mean: NodesStudy = {
  cohort: 40, epsilon: 45, question: 'estimator: mean\nparameters: { spread: [4] }',
};
const people = Array.from({ length: 40 }, (_, i) => 20 + 8 * (i % 2));
const noise = 8;

/** Another first word after the head of a message: an and with another bit, or another number. */
function changed(frame: Extract<PeerFrame, { readonly kind: 'step' }>): PeerFrame {
  const payload = frame.payload.slice();
  payload[messageHeadBytes]! ^= 1;
  return { ...frame, payload };
}

/**
 * The first server sends a message to server 2 that is not what it must be, in its first epoch.
 * @param isTime - whether it is the next message.
 */
async function closed(study: NodesStudy, isTime: () => boolean): Promise<SealedNodes> {
  let hasChanged = false;
  nodes = new SealedNodes(study, { frame: (to, frame) => {
    if (hasChanged || frame.kind !== 'step' || to !== 2 || !isTime()) return frame;
    hasChanged = true;
    return changed(frame);
  } });
  await nodes.startAll();
  expect(await nodes.contribute(people)).toEqual([]);
  await nodes.clock.advance(everyMs);
  return nodes;
}

/** The first server holds it, too: it does not know what became of its message on the way. */
const isHeld = (run: SealedNodes): boolean =>
  servers.every((server) => run.heldEpoch(server) === 1n);

describe('a server that sends a wrong message', () => {
  it('before anything is opened costs nothing, and the others hold the study', async () => {
    const run = await closed(count, () => true);
    await run.until(() => isHeld(run));
    await run.clock.advance(10 * everyMs);
    for (const server of servers) {
      expect(await run.releases(server)).toEqual([]);
      expect(await run.spent(server)).toBe(0n);
    }
    expect(run.view.epoch).toBe(0n);
    // A restart does not forget it, and no epoch opens before the last of them resumes it.
    await run.restart(1);
    for (const server of [0, 2] as const) await run.resume(server, 1n);
    await run.clock.advance(10 * everyMs);
    expect(run.view.epoch).toBe(0n);
    await expect(run.resume(1)).rejects.toThrow('in epoch 1');
    await expect(run.resume(1, 2n)).rejects.toThrow('in epoch 1');
    await run.resume(1, 1n);
    await run.until(() => run.view.epoch === 2n);
    // With its own code again the first server has its share in a release.
    expect(await run.contribute(people)).toEqual([]);
    await run.clock.advance(everyMs);
    await run.until(async () => (await run.releases(0)).length === 1);
    const [{ outcome }] = await run.releases(0) as [Awaited<ReturnType<typeof run.releases>>[0]];
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    expect(Math.abs(outcome.estimate[0]! - 20)).toBeLessThan(noise);
    for (const server of servers) expect(await run.spent(server)).toBe(run.view.charge.rho);
  });

  it('after something was opened costs all three the epoch, which is interrupted', async () => {
    let afterCharge = 0;
    const run = await closed(mean, () => {
      const isCharged = nodes!.sent.some(({ from, charges }) => from === 0 && charges > 0);
      // The first message after the charge opens a sum, which is noised by its sender.
      return isCharged && afterCharge++ === 1;
    });
    await run.until(() => isHeld(run));
    await run.until(async () => (await run.releases(0)).length === 1);
    for (const server of servers) {
      expect((await run.releases(server))[0]!.outcome)
        .toMatchObject({ kind: 'refused', reason: 'interrupted' });
      expect(await run.spent(server)).toBe(run.view.charge.rho);
    }
    await run.clock.advance(10 * everyMs);
    expect(run.view.epoch).toBe(0n);
    for (const server of servers) await run.resume(server, 1n);
    await run.until(() => run.view.epoch === 2n);
  });
});
