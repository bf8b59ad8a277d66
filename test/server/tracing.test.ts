// @module-tag long
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAggregator, silentLogger, type Aggregator } from '../../server/index.js';
import { decodeReleaseBody, type ReleaseBody } from '../../src/wire/index.js';
import { define } from '../support/hub-bench.js';
import { WireClient, WireContributor } from '../support/wire-client.js';

const exporter = new InMemorySpanExporter();
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-tracing-'));
  exporter.reset();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
});
afterEach(() => {
  trace.disable();
  rmSync(directory, { recursive: true, force: true });
});

/** The spans of an aggregator that took two good batches and a bad one, and released an epoch. */
async function run(options: { readonly tracing?: boolean }): Promise<{
  readonly spans: readonly ReadableSpan[];
  /** Of the release: `value`, or why there is none. */
  readonly outcome: string;
}> {
  const aggregator = await createAggregator({
    dataDirectory: directory, port: 0, logger: silentLogger, checkThreads: 0, ...options,
    studies: [define({
      participation: 'public', epoch: { contributors: 2 }, privacy: { epsilon: 8, delta: 1e-6 },
    })],
  });
  try {
    const released = oneRelease(aggregator);
    const client = await WireClient.open(aggregator.port);
    const { studyId } = aggregator.hub.studies()[0]!;
    for (const row of [[NaN, 1], [1, 1], [1, 1]]) {
      const contributor = await WireContributor.open(client, studyId);
      // Not encodeRows, which refuses what is not finite.
      const data = new Uint8Array(Float64Array.from(row).buffer);
      await contributor.send(1n, { last: true, data });
    }
    const { outcome } = (await released).answers[0]!;
    client.close();
    await aggregator.close();
    const spans = exporter.getFinishedSpans();
    return { spans, outcome: outcome.kind === 'refused' ? outcome.reason : 'value' };
  } finally {
    await aggregator.close();
  }
}

const oneRelease = (aggregator: Aggregator): Promise<ReleaseBody> => new Promise((resolve) => {
  const stop = aggregator.hub.onEvent((event) => {
    if (event.kind !== 'release') return;
    stop();
    resolve(decodeReleaseBody(event.release.body));
  });
});

const milliseconds = ([seconds, nanoseconds]: readonly [number, number]): number =>
  seconds * 1000 + nanoseconds / 1e6;

describe('traces', () => {
  it('are off by default', async () => {
    expect((await run({})).spans).toEqual([]);
  });

  it('show a batch with its steps and its verdict, and nothing of who sent what', async () => {
    const { spans } = await run({ tracing: true });
    const batches = spans.filter(({ name }) => name === 'keelson.batch');
    expect(batches.map(({ attributes }) => attributes)).toEqual(
      ['not-finite', 'accepted', 'accepted'].map((code) =>
        ({ 'keelson.study': define().document.study, 'keelson.code': code })));
    for (const whole of batches) {
      const { traceId, spanId } = whole.spanContext();
      const steps = spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId);
      expect(steps.map(({ name }) => name)).toEqual(['check', 'store']);
      expect(steps.every((step) => step.spanContext().traceId === traceId)).toBe(true);
      expect(steps.map(({ attributes }) => attributes)).toEqual([{}, {}]);
    }
  });

  it('show a release by public times: its draw ends when it was planned', async () => {
    const { spans, outcome } = await run({ tracing: true });
    const whole = spans.find(({ name }) => name === 'keelson.release')!;
    expect(whole.attributes).toEqual({
      'keelson.study': define().document.study, 'keelson.epoch': 1, 'keelson.release': 0,
      'keelson.outcome': [outcome],
    });
    const { spanId } = whole.spanContext();
    const steps = spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId);
    expect(steps.map(({ name }) => name)).toEqual(['charge', 'draw', 'publish']);
    // Releases show at whole multiples of 250 ms.
    expect(milliseconds(steps[1]!.endTime) % 250).toBe(0);
    expect(steps[2]!.startTime).toEqual(steps[1]!.endTime);
  });
});
