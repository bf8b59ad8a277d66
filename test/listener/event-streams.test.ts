import { describe, expect, it } from 'vitest';
import { toBase64 } from '../../src/base/bytes.js';
import { verifyReleaseLog } from '../../src/log/index.js';
import { signing } from '../../src/signing/node.js';
import { eventually, startRig, type Rig } from './harness.js';

interface Event {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** A reader of a stream of events, as far as it has come. */
class Reader {
  text = '';
  isOver = false;
  readonly #stop = new AbortController();

  static async open(rig: Rig, study: string, headers: Record<string, string> = {}) {
    const reader = new Reader();
    const answer = await fetch(rig.url(`/v1/studies/${study}/releases`), {
      headers: { Accept: 'text/event-stream', ...headers }, signal: reader.#stop.signal,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    void reader.#read(answer);
    return reader;
  }

  async #read(answer: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const part of answer.body!) this.text += decoder.decode(part, { stream: true });
    } catch {
      // The test, or the server, cut it.
    }
    this.isOver = true;
  }

  get events(): Event[] {
    return this.text.split('\n\n').slice(0, -1).flatMap((block) => {
      const fields = new Map(block.split('\n')
        .map((line) => line.split(': ', 2) as [string, string]));
      const data = fields.get('data');
      return data === undefined
        ? [] : [{ id: fields.get('id'), event: fields.get('event'), data }];
    });
  }

  ids(): (string | undefined)[] {
    return this.events.filter(({ event }) => event === 'release').map(({ id }) => id);
  }

  close(): void {
    this.#stop.abort();
  }
}

it('streams the log, then each release, byte for byte, and resumes after an id', async () => {
  const rig = await startRig();
  rig.hub.publish(rig.study);
  const second = rig.hub.publish(rig.study);
  const reader = await Reader.open(rig, 'flight-delays');
  await eventually(() => reader.events.some(({ event }) => event === 'head'));
  const live = rig.hub.publish(rig.study);
  await eventually(() => reader.ids().length === 3);
  expect(reader.ids()).toEqual(['0', '1', '2']);
  expect(JSON.parse(reader.events.findLast(({ event }) => event === 'release')!.data)).toEqual({
    type: 'release', body: toBase64(live.body), signature: toBase64(live.signature),
  });
  const kinds = reader.events.map(({ event }) => event);
  expect(kinds.slice(0, 2)).toEqual(['study', 'notice']);
  // What came up to the head is a log.
  const lines = reader.events.filter(({ event }) => event !== 'notice').map(({ data }) => data);
  const log = lines.slice(0, lines.findIndex((line) => line.includes('"head"')) + 1);
  const report = await verifyReleaseLog(log, { signing, serverKey: rig.hub.serverKey });
  expect(report).toMatchObject({ consistent: true, count: 2 });
  const resumed = await Reader.open(rig, rig.study, { 'Last-Event-ID': '0' });
  await eventually(() => resumed.events.some(({ event }) => event === 'head'));
  expect(resumed.ids()).toEqual(['1', '2']);
  expect(JSON.parse(resumed.events.find(({ id }) => id === '1')!.data))
    .toMatchObject({ body: toBase64(second.body) });
  expect(rig.metrics.totals.subscriptions).toBe(2);
  reader.close();
  resumed.close();
  await eventually(() => rig.metrics.totals.subscriptions === 0);
});

it('sends a comment while nothing happens, and ends when the server stops', async () => {
  const rig = await startRig({ limits: { heartbeatMs: 20 } });
  const reader = await Reader.open(rig, rig.study);
  await eventually(() => reader.text.includes('\n:\n\n'));
  await rig.listener.close();
  await eventually(() => reader.isOver);
});

describe('the places for streams', () => {
  const places = 8;
  const begin = async (): Promise<Rig> => startRig({
    limits: { httpConnections: 2 * places }, trustedProxies: ['127.0.0.1'],
  });
  const from = (address: string): Record<string, string> => ({ 'X-Forwarded-For': address });
  const refusedFor = async (rig: Rig, address: string): Promise<void> => {
    const refused = await fetch(rig.url(`/v1/studies/${rig.study}/releases`), {
      headers: { Accept: 'text/event-stream', ...from(address) },
    });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({ error: { code: 'server-full' } });
  };

  it('are not all taken by two addresses', async () => {
    const rig = await begin();
    const readers: Reader[] = [];
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      for (let i = 0; i < places / 4; i++) {
        readers.push(await Reader.open(rig, rig.study, from(address)));
      }
      await refusedFor(rig, address);
    }
    readers.push(await Reader.open(rig, rig.study, from('192.0.2.3')));
    expect(rig.metrics.totals.subscriptions).toBe(places / 2 + 1);
    for (const reader of readers) reader.close();
    await eventually(() => rig.metrics.totals.subscriptions === 0);
  });

  it('are counted by IPv6 networks of 48 bits', async () => {
    const rig = await begin();
    for (let i = 0; i < places / 4; i++) {
      await Reader.open(rig, rig.study, from(`2001:db8:0:${i}::1`));
    }
    await refusedFor(rig, '2001:db8:0:ff::1');
    await Reader.open(rig, rig.study, from('2001:db8:1::1'));
  });

  it('go from the network with the most to one with fewer, and not back', async () => {
    const rig = await begin();
    const crowd: Reader[] = [];
    for (let i = 0; i < places; i++) {
      crowd.push(await Reader.open(rig, rig.study, from(`192.0.2.${Math.floor(i / 2)}`)));
    }
    const one = await Reader.open(rig, rig.study, from('198.51.100.1'));
    await eventually(() => crowd.filter(({ isOver }) => isOver).length === 1);
    // The network that gave way has one stream now, and the others have two.
    const back = await Reader.open(rig, rig.study, from('198.51.100.2'));
    await eventually(() => crowd.filter(({ isOver }) => isOver).length === 2);
    await refusedFor(rig, '192.0.2.0');
    await eventually(() => rig.metrics.totals.subscriptions === places);
    expect([one.isOver, back.isOver]).toEqual([false, false]);
  });
});

it('refuses to go on after an event that the log does not have', async () => {
  const rig = await startRig();
  rig.hub.publish(rig.study);
  rig.hub.publish(rig.study);
  const url = rig.url('/v1/studies/flight-delays/releases');
  for (const method of ['GET', 'HEAD']) {
    const answer = await fetch(url, {
      method, headers: { Accept: 'text/event-stream', 'Last-Event-ID': '2' },
    });
    expect(answer.status).toBe(409);
    if (method === 'GET') {
      const { error } = await answer.json() as { error: { code: string; text: string } };
      expect(error.code).toBe('beyond-log');
      expect(error.text).toContain('the log has 2 releases');
    }
  }
  const newest = await Reader.open(rig, rig.study, { 'Last-Event-ID': '1' });
  await eventually(() => newest.events.some(({ event }) => event === 'head'));
  rig.hub.publish(rig.study);
  await eventually(() => newest.ids().length === 1);
  newest.close();
});

it('gives pages of JSON to readers that poll, with a tag that changes with the log', async () => {
  const rig = await startRig({ limits: { releasesPerPage: 2 } });
  const releases = [0, 1, 2].map(() => rig.hub.publish(rig.study));
  const url = rig.url('/v1/studies/flight-delays/releases');
  const first = await fetch(url);
  const page = await first.json() as { releases: { body: string }[]; next: number };
  expect(page).toMatchObject({ study: rig.study, next: 2, head: { count: 3 } });
  expect(page.releases.map(({ body }) => body))
    .toEqual(releases.slice(0, 2).map(({ body }) => toBase64(body)));
  const rest: unknown = await (await fetch(`${url}?from=2`)).json();
  expect(rest).toMatchObject({ releases: [{ index: 2 }], next: null });
  const tag = first.headers.get('etag')!;
  const same = await fetch(url, { headers: { 'If-None-Match': tag } });
  expect(same.status).toBe(304);
  rig.hub.publish(rig.study);
  const changed = await fetch(url, { headers: { 'If-None-Match': tag } });
  expect(changed.status).toBe(200);
  expect(changed.headers.get('etag')).not.toBe(tag);
});

it('gives the log as lines, from an index on', async () => {
  const rig = await startRig();
  rig.hub.publish(rig.study);
  rig.hub.publish(rig.study);
  const path = `/v1/studies/${rig.study}/releases?from=1`;
  const lines = await fetch(rig.url(path), { headers: { Accept: 'application/x-ndjson' } });
  expect(await lines.text())
    .toBe(await (await fetch(rig.url(`/v1/releases?study=${rig.study}&from=1`))).text());
});

it('refuses what it cannot read', async () => {
  const rig = await startRig();
  const stream = { Accept: 'text/event-stream' };
  const cases: readonly (readonly [string, Record<string, string>, number, string])[] = [
    ['nobody/releases', {}, 404, 'unknown-study'],
    ['nobody/releases', stream, 404, 'unknown-study'],
    ['flight-delays/people', {}, 404, 'not-found'],
    ['%ff/releases', {}, 400, 'bad-request'],
    ['flight-delays/releases?from=x', {}, 400, 'bad-request'],
    ['flight-delays/releases', { ...stream, 'Last-Event-ID': '-1' }, 400, 'bad-request'],
  ];
  for (const [path, headers, status, code] of cases) {
    const answer = await fetch(rig.url(`/v1/studies/${path}`), { headers });
    expect([answer.status, await answer.json()], path).toMatchObject([status, { error: { code } }]);
  }
});
