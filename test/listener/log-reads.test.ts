import { describe, expect, it } from 'vitest';
import { LogReads } from '../../server/network/log-reads.js';
import { createServerMetrics } from '../../server/metrics/server-metrics.js';

const bounds = { logReads: 2, catchUpBufferBytes: 10, catchUpBytes: 100 };

/** Reads that end when a test says so. */
function gate(reads: LogReads) {
  const begun: string[] = [];
  const ends = new Map<string, (fails?: boolean) => void>();
  const ask = (name: string): Promise<string> => reads.page(() => {
    begun.push(name);
    return new Promise((resolve, reject) => {
      ends.set(name, (fails) => (fails === true ? reject(new Error(name)) : resolve(name)));
    });
  });
  return { begun, ask, end: (name: string, fails?: boolean): void => ends.get(name)!(fails) };
}

/** Lets promises that are ready run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('pages of release logs', () => {
  it('are read so many at a time, first come, first served, also after a read that '
    + 'failed', async () => {
    const { begun, ask, end } = gate(new LogReads(bounds, createServerMetrics()));
    const asked = ['a', 'b', 'c', 'd', 'e'].map((name) => ask(name).catch(() => 'failed'));
    await settled();
    expect(begun).toEqual(['a', 'b']);
    end('b', true);
    await settled();
    expect(begun).toEqual(['a', 'b', 'c']);
    end('a');
    end('c');
    await settled();
    end('d');
    end('e');
    expect(await Promise.all(asked)).toEqual(['a', 'failed', 'c', 'd', 'e']);
    void ask('f');
    await settled();
    expect(begun.at(-1)).toBe('f');
  });
});

describe('sockets that do not take the log', () => {
  const socket = (bufferedBytes: number) => ({
    bufferedBytes, cut: false, terminate() { this.cut = true; },
  });

  it('are cut past the bound over all, the one that has not read for longest first', () => {
    const metrics = createServerMetrics();
    const reads = new LogReads(bounds, metrics);
    const [first, second, third, small] = [socket(40), socket(40), socket(40), socket(9)];
    reads.note(small);
    reads.note(first);
    reads.note(second);
    expect([first.cut, second.cut]).toEqual([false, false]);
    reads.note(third);
    expect([small.cut, first.cut, second.cut, third.cut]).toEqual([false, true, false, false]);
    expect(metrics.socketsClosed.total({ reason: 'log-unread' })).toBe(1);
  });

  it('are counted anew before one is cut, and those that have read a part come last', () => {
    const reads = new LogReads(bounds, createServerMetrics());
    const [slow, silent, third] = [socket(60), socket(40), socket(40)];
    reads.note(slow);
    reads.note(silent);
    Object.assign(slow, { bufferedBytes: 20 });
    reads.note(third);
    expect([slow.cut, silent.cut, third.cut]).toEqual([false, false, false]);
    reads.note(socket(40));
    expect([slow.cut, silent.cut, third.cut]).toEqual([false, true, false]);
  });

  it('are forgotten when they have read, and when they are gone', () => {
    const reads = new LogReads(bounds, createServerMetrics());
    const [first, second, third] = [socket(60), socket(40), socket(60)];
    reads.note(first);
    Object.assign(first, { bufferedBytes: 0 });
    reads.note(first);
    reads.note(second);
    reads.note(third);
    expect([first.cut, second.cut, third.cut]).toEqual([false, false, false]);
    reads.forget(third);
    reads.note(first);
    reads.note(socket(60));
    expect([second.cut, third.cut]).toEqual([false, false]);
  });
});
