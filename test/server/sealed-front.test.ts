import { afterEach, describe, expect, it } from 'vitest';
import { signing } from '../../src/signing/node.js';
import { servers } from '../../src/sealed/shares/body.js';
import { everyMs, SealedNodes, type FrontChange } from '../support/sealed-nodes.js';

let nodes: SealedNodes | undefined;
afterEach(async () => {
  await nodes?.close();
  nodes = undefined;
});

const count = { question: 'estimator: count\nparameters: { threshold: 25 }' };
/** All of them count. */
const people = Array.from({ length: 40 }, (_, i) => 26 + (i % 9));

async function closed(change: FrontChange): Promise<SealedNodes> {
  nodes = new SealedNodes(count, change);
  await nodes.startAll();
  expect(await nodes.contribute(people)).toEqual([]);
  await nodes.clock.advance(everyMs);
  return nodes;
}

/** What is released of the first epoch, which is the same at all three. */
async function countOf(run: SealedNodes): Promise<number> {
  await run.until(async () => (await run.releases(0)).length > 0 && run.view.epoch === 2n);
  const logs = await Promise.all(servers.map((server) => run.releases(server)));
  for (const log of logs) expect(log.map(({ body }) => body)).toEqual([logs[0]![0]!.body]);
  const { outcome } = logs[0]![0]!;
  if (outcome.kind !== 'value') throw new Error(outcome.text);
  return outcome.estimate[0]!;
}

/** Epsilon 4 has noise of deviation below 1: farther off by chance less than once in 10^9. */
const noise = 8;

/**
 * The first server takes the entries, so only it knows who came. What it can do with them is the
 * bound that docs/concepts/threat-model.md states.
 */
describe('a first server that runs changed code', { tags: ['slow'] }, () => {
  it('can leave people out: neither the two others nor the release show it', async () => {
    const run = await closed({ journal: (entries) => entries.slice(20) });
    expect(Math.abs(await countOf(run) - 20)).toBeLessThan(noise);
    for (const server of servers) expect(await run.spent(server)).toBe(run.view.charge.rho);
  });

  it('cannot count what a person did not sign', async () => {
    const stranger = Buffer.from(signing.createSigner(new Uint8Array(32).fill(99)).publicKey);
    const run = await closed({
      journal: (entries) => [
        // In somebody else's name, with another body, and with another person's entry.
        { ...entries[0]!, contributor: stranger.toString('hex') },
        { ...entries[1]!, body: entries[1]!.body.map((byte, i) => (i === 300 ? byte ^ 1 : byte)) },
        { ...entries[2]!, body: entries[3]!.body }, ...entries.slice(3),
      ],
    });
    expect(Math.abs(await countOf(run) - 37)).toBeLessThan(noise);
  });

  it.each<[string, FrontChange['frame']]>([
    ['show the two others different people', (to, frame) =>
      (to === 2 && frame.kind === 'boxes' ? { ...frame, entries: frame.entries.slice(1) } : frame)],
    ['count a person twice', (_, frame) => (frame.kind === 'boxes'
      ? { ...frame, entries: [...frame.entries, frame.entries[0]!] } : frame)],
    ['name other people than it sends', (to, frame) =>
      (to === 1 && frame.kind === 'manifest' ? { ...frame, count: frame.count - 1 } : frame)],
  ])('cannot %s: nothing is opened, and nothing is charged', async (_, frame) => {
    let isChanged = true;
    const run = await closed({
      frame: (to, sent) => (isChanged ? frame!(to, sent) : sent),
    });
    await run.clock.advance(60_000);
    for (const server of servers) {
      expect(await run.releases(server)).toEqual([]);
      expect(await run.spent(server)).toBe(0n);
    }
    expect(run.sent.some((each) => each.frame.kind === 'step')).toBe(false);
    // With its own code again it goes on with everybody.
    isChanged = false;
    expect(Math.abs(await countOf(run) - people.length)).toBeLessThan(noise);
  });
});

/** In the body of an entry: after its head of 176 bytes come the boxes, the first of 112 bytes. */
const inBox = [180, 300] as const;
const garbled = (box: 0 | 1, who: (person: number) => boolean) =>
  (body: Uint8Array, person: number): void => { if (who(person)) body[inBox[box]]! ^= 1; };

describe('entries that cannot be used', () => {
  const run = async (): Promise<SealedNodes> => {
    nodes = new SealedNodes(count);
    await nodes.startAll();
    return nodes;
  };

  it('count as no rows, however many of the entries they are', async () => {
    const own = await run();
    // The box of the second server, so the first one cannot see it.
    const change = garbled(1, (person) => person % 4 === 0);
    expect(await own.contribute(people.slice(0, 4), change)).toEqual([]);
    await own.clock.advance(everyMs);
    expect(Math.abs(await countOf(own) - 3)).toBeLessThan(noise);
    for (const server of servers) expect(await own.spent(server)).toBe(own.view.charge.rho);
    // A single attempt, and no wait for patience.
    expect(own.sent.filter(({ frame }) => frame.kind === 'gather')).toHaveLength(2);
  });

  it('are refused by the first server where its own box does not open', async () => {
    const own = await run();
    const refused = await own.contribute(people, garbled(0, (person) => person < 2));
    expect(refused).toEqual([1, 2].map(() => ({ verdict: 'rejected', code: 'malformed' })));
    await own.clock.advance(everyMs);
    expect(Math.abs(await countOf(own) - 38)).toBeLessThan(noise);
  });
});

describe('a first server whose clock is wrong', { tags: ['long'] }, () => {
  const threeDaysMs = 3 * 86_400_000;

  it('puts no date into the two others, and goes on once its clock is right', async () => {
    nodes = new SealedNodes(count);
    const run = nodes;
    await run.startAll();
    run.aheadMs[0] = threeDaysMs;
    await run.until(() => run.sent.some(({ frame }) =>
      frame.kind === 'stop' && frame.code === 'clock-implausible'));
    await run.clock.advance(60_000);
    for (const server of [1, 2] as const) {
      expect((await run.newestTime(server))!).toBeLessThanOrEqual(run.clock.nowMs());
    }
    expect(await run.newestTime(0)).toBeGreaterThan(run.clock.nowMs() + threeDaysMs / 2);
    await run.restartAtTrueTime(0);
    await run.until(() => run.view.epoch > 1n);
    const { closesAtMs } = run.view;
    expect(closesAtMs - run.clock.nowMs()).toBeLessThanOrEqual(everyMs);
    expect(await run.contribute(people)).toEqual([]);
    await run.until(async () => (await run.releases(2)).length > 0);
    const [first] = await run.releases(2);
    expect(first!.outcome.kind).toBe('value');
  });

  it('is refused a date that is long over, and goes on once its clock is right', async () => {
    nodes = new SealedNodes(count);
    const run = nodes;
    run.aheadMs[0] = -threeDaysMs;
    await run.startAll(false);
    await run.until(() => run.sent.some(({ frame }) =>
      frame.kind === 'stop' && frame.code === 'clock-implausible'));
    expect(run.sent.some(({ frame }) => frame.kind === 'epochKey')).toBe(false);
    await run.restartAtTrueTime(0);
    await run.until(() => run.sent.some(({ frame }) => frame.kind === 'epochKey'));
    expect(await run.contribute(people)).toEqual([]);
    await run.until(async () => (await run.releases(2)).some(({ outcome }) =>
      outcome.kind === 'value'));
  });
});
