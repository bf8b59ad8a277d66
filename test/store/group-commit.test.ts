import { describe, expect, it } from 'vitest';
import type { Clock } from '../../server/base/clock.js';
import type { AdmissionRequest, AdmissionResult } from '../../server/store/contract.js';
import { GroupCommit, groupBatches, groupBytes } from '../../server/store/group-commit.js';
import { protocolLimits } from '../../src/base/limits.js';
import { batch } from '../support/store-fixtures.js';

interface Commit {
  readonly batches: readonly AdmissionRequest[];
  readonly finish: () => Promise<void>;
  readonly fail: (error: Error) => Promise<void>;
}

/** A clock that is moved by hand and a committer that finishes when told. */
function bench(): { group: GroupCommit; commits: Commit[]; pass: (ms: number) => void } {
  let now = 0;
  let timers: { at: number; action: () => void }[] = [];
  const clock: Clock = {
    nowMs: () => now, monotonicMs: () => now,
    after: (delayMs, action) => {
      const timer = { at: now + delayMs, action };
      timers.push(timer);
      return () => { timers = timers.filter((other) => other !== timer); };
    },
  };
  const commits: Commit[] = [];
  const settled = async (): Promise<void> => { for (let i = 0;
      i < 10; i++) await Promise.resolve(); };
  const group = new GroupCommit(clock, (batches) => new Promise((resolve, reject) => {
    commits.push({
      batches,
      finish: () => { resolve(batches.map((one) => answer(one))); return settled(); },
      fail: (error) => { reject(error); return settled(); },
    });
  }));
  const pass = (ms: number): void => {
    now += ms;
    const due = timers.filter((timer) => timer.at <= now);
    timers = timers.filter((timer) => timer.at > now);
    for (const { action } of due) action();
  };
  return { group, commits, pass };
}

const answer = (one: AdmissionRequest): AdmissionResult =>
  ({ verdict: 'accepted', epoch: 1n, position: one.sequence, complete: false });

describe('group commit', () => {
  it('waits for more batches, then answers each caller with its own results and only when the list '
    + 'is durable', async () => {
    const { group, commits, pass } = bench();
    const answers: string[] = [];
    const note = (name: string) => (results: readonly AdmissionResult[]) => {
      answers.push(`${name}:${results.map((one) => one.position).join()}`);
    };
    void group.admit([batch('a', 1, 1)]).then(note('first'));
    void group.admit([batch('a', 2, 1), batch('a', 3, 1)]).then(note('second'));
    pass(protocolLimits.groupCommitMs - 1);
    expect(commits).toHaveLength(0);
    pass(1);
    expect(commits.map((one) => one.batches.length)).toEqual([3]);
    await Promise.resolve();
    expect(answers).toEqual([]);
    await commits[0]!.finish();
    expect(answers).toEqual(['first:1', 'second:2,3']);
  });

  it('keeps one list in flight, and the next leaves when its oldest call has waited', async () => {
    const { group, commits, pass } = bench();
    void group.admit([batch('a', 1, 1)]);
    pass(protocolLimits.groupCommitMs);
    void group.admit([batch('a', 2, 1)]);
    pass(protocolLimits.groupCommitMs * 3);
    expect(commits).toHaveLength(1);
    await commits[0]!.finish();
    expect(commits).toHaveLength(2);
    void group.admit([batch('a', 3, 1)]);
    await commits[1]!.finish();
    expect(commits).toHaveLength(2);
    pass(protocolLimits.groupCommitMs);
    expect(commits).toHaveLength(3);
  });

  it('does not wait once a list is large, and splits what waited behind it', async () => {
    const { group, commits } = bench();
    for (let i = 0; i < groupBatches + 10; i++) void group.admit([batch('a', i + 1, 1)]);
    expect(commits.map((one) => one.batches.length)).toEqual([groupBatches]);
    const { group: wide, commits: heavy } = bench();
    void wide.admit([batch('a', 1, 1, { body: new Uint8Array(groupBytes) })]);
    expect(heavy).toHaveLength(1);
  });

  it('rejects every caller of a list that failed, and serves the next', async () => {
    const { group, commits, pass } = bench();
    const outcomes = [group.admit([batch('a', 1, 1)]), group.admit([batch('a', 2, 1)])]
      .map((call) => call.then(() => 'durable', (error: Error) => error.message));
    pass(protocolLimits.groupCommitMs);
    await commits[0]!.fail(new Error('disk full'));
    expect(await Promise.all(outcomes)).toEqual(['disk full', 'disk full']);
    const next = group.admit([batch('a', 1, 1)]);
    pass(protocolLimits.groupCommitMs);
    await commits[1]!.finish();
    expect(await next).toHaveLength(1);
  });
});
