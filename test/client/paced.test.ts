import { describe, expect, it } from 'vitest';
import { paced } from '../../client/websocket/paced.js';
import type { OpenTransport, TransportHandlers } from '../../client/websocket/contract.js';

/** A socket that a test speaks for, and a clock that each message moves by 5 ms. */
function stage() {
  let handlers!: TransportHandlers;
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const heard: string[] = [];
  const ends: string[] = [];
  const open: OpenTransport = (_url, _protocol, given) => {
    handlers = given;
    return {
      send: () => undefined, bufferedAmount: 7, ping: () => true,
      close: () => void ends.push('close'), terminate: () => given.onClose('dropped'),
    };
  };
  const runtime = { nowMs: () =>
    nowMs, unixMs: () => 0, fraction: () => 0, after: (_ms: number, action: () => void) => {
    turns.push(action);
    return () => undefined;
  } };
  let onHeard = (): void => undefined;
  const transport = paced(open, runtime, 12)('ws://x', ['p'], {
    onOpen: () => void heard.push('open'), onActivity: () => undefined,
    onMessage: (message) => {
      nowMs += 5;
      heard.push(String((message as Uint8Array)[0]));
      onHeard();
    },
    onClose: (reason) => void heard.push(reason),
  });
  const say = (...numbers: readonly number[]): void =>
    numbers.forEach((each) => handlers.onMessage(Uint8Array.of(each)));
  return { transport, turns, heard, ends, say, lose: () =>
    handlers.onClose('lost'), when: (action: () => void) => { onHeard = action; } };
}

describe('a paced transport', () => {
  it('delivers in slices, in order, and reports the loss of the socket last', () => {
    const { turns, heard, say, lose } = stage();
    say(1, 2, 3, 4);
    lose();
    expect([heard, turns.length]).toEqual([[], 1]);
    turns.shift()!();
    say(5);
    expect([[...heard], turns.length]).toEqual([['1', '2', '3'], 1]);
    while (turns.length > 0) turns.shift()!();
    expect(heard.slice(0, 5)).toEqual(['1', '2', '3', '4', 'lost']);
  });

  it('keeps the order of messages that arrive while it delivers others', () => {
    const { turns, heard, say, when } = stage();
    say(1, 2);
    let isFirst = true;
    when(() => {
      if (isFirst) say(3);
      isFirst = false;
    });
    while (turns.length > 0) turns.shift()!();
    expect(heard).toEqual(['1', '2', '3']);
  });

  it('delivers no waiting message after its owner has closed it', () => {
    for (const end of ['close', 'terminate'] as const) {
      const { transport, turns, heard, say, when } = stage();
      say(1, 2, 3);
      when(() => transport[end]());
      while (turns.length > 0) turns.shift()!();
      expect(heard).toEqual(end === 'close' ? ['1'] : ['1', 'dropped']);
    }
    expect(stage().transport.bufferedAmount).toBe(7);
  });

  it('delivers no message before its preparation is done, and none out of order', async () => {
    let handlers!: TransportHandlers;
    const heard: (number | string)[] = [];
    const done: (() => void)[] = [];
    const runtime = {
      nowMs: () => 0, unixMs: () => 0, fraction: () => 0,
      after: (_ms: number, action: () => void) => {
        queueMicrotask(action);
        return () => undefined;
      },
    };
    const open: OpenTransport = (_url, _protocol, given) => {
      handlers = given;
      return { send: () => undefined, bufferedAmount: 0, ping: () =>
        true, close: () => undefined, terminate: () => undefined };
    };
    const prepare = ([first]: Uint8Array): Promise<void> | null =>
      (first! % 2 === 0 ? null : new Promise((resolve) => { done.push(resolve); }));
    paced(open, runtime, 12, prepare)('ws://x', ['p'], {
      onOpen: () => undefined, onActivity: () => undefined,
      onMessage: (message) => void heard.push((message as Uint8Array)[0]!),
      onClose: (reason) => void heard.push(reason),
    });
    const settle = async (): Promise<void> => { for (let i = 0;
        i < 8; i++) await Promise.resolve(); };
    [2, 1, 4, 3].forEach((each) => handlers.onMessage(Uint8Array.of(each)));
    handlers.onClose('lost');
    await settle();
    expect(heard).toEqual([2]);
    done[1]!();
    await settle();
    expect(heard).toEqual([2]);
    done[0]!();
    await settle();
    expect(heard).toEqual([2, 1, 4, 3, 'lost']);
  });
});
