import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, contribute, define, everyMs } from '../support/hub-bench.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

/** What the log says of releases when so many contributed to each epoch, in turn. */
async function linesOf(contributors: readonly number[]): Promise<object[]> {
  const hub = await bench.start([define()], { releaseTickMs: 0 });
  const { studyId } = hub.studies()[0]!;
  for (const count of contributors) {
    await contribute(hub, studyId, count, hub.study(studyId)!.epoch);
    await bench.clock.advance(everyMs);
    await hub.settled();
  }
  await hub.close();
  return bench.logged.filter(({ text }) => text === 'a release is published')
    .map(({ fields }) => fields);
}

describe('the log of a server', () => {
  it('has one line for each release, of public facts alone, however many contributed', async () => {
    const facts = { study: 'delays', epsilon: 2, delta: 1e-6 };
    // With three the centre is not found: that is the outcome that the release itself publishes.
    expect(await linesOf([300, 250, 3])).toEqual([
      { ...facts, epoch: 1n, release: 0, questions: { answer: { outcome: 'value' } } },
      { ...facts, epoch: 2n, release: 1, questions: { answer: { outcome: 'value' } } },
      {
        ...facts, epoch: 3n, release: 2,
        questions: { answer: { outcome: 'refused', reason: 'centre-not-found' } },
      },
    ]);
  });

  it('says why a release was refused', async () => {
    const hub = await bench.start([define()], { releaseTickMs: 0 });
    const { studyId } = hub.studies()[0]!;
    bench.breakRelease = studyId;
    await bench.clock.advance(everyMs);
    await hub.settled();
    await hub.close();
    expect(bench.logged.find(({ text }) => text === 'a release is published')?.fields)
      .toMatchObject({
        epoch: 1n, epsilon: 2,
        questions: { answer: { outcome: 'refused', reason: 'interrupted' } },
      });
  });

  it('says that an epoch lapsed, where presence is public', async () => {
    const hub = await bench.start([define({ participation: 'public' })], { releaseTickMs: 0 });
    await bench.clock.advance(everyMs);
    await hub.settled();
    await hub.close();
    expect(bench.logged.map(({ text }) => text))
      .toContain('an epoch lapsed: nobody came, nothing is charged');
    expect(bench.logged.map(({ text }) => text)).not.toContain('a release is published');
  });
});
