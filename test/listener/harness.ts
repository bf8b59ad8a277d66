import { afterEach, expect } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import {
  createListener, type Listener, type ListenerOptions,
} from '../../server/listener/index.js';
import { createServerMetrics, type ServerMetrics } from '../../server/metrics/server-metrics.js';
import { ofShortFacts } from '../../src/wire/index.js';
import { createFakeHub, type FakeHub } from '../support/fake-hub.js';
import { WireClient, WireContributor } from '../support/wire-client.js';
import { document, shortFacts } from '../support/wire-samples.js';

export const operatorToken = 'a-token-for-tests';
export const otherDocument = ofShortFacts({
  ...shortFacts, study: 'other-study', columns: ['a', 'b', 'c'],
});

/** What the listener said, for tests that look for secrets or faults. */
export interface LogRecord {
  readonly level: string;
  readonly fields: object;
  readonly text: string;
}

export interface Rig {
  readonly hub: FakeHub;
  readonly listener: Listener;
  readonly metrics: ServerMetrics;
  readonly logs: LogRecord[];
  /** Ids of `document` and `otherDocument`. */
  readonly study: string;
  readonly other: string;
  /** Opens a socket; closed after the test. */
  open(): Promise<WireClient>;
  contributor(): Promise<WireContributor>;
  /** A new well-behaved contributor is served: whatever happened before did no harm. */
  expectService(): Promise<void>;
  url(path: string): string;
}

let cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

/** A listener over a fake hub on a free port; closed after the test. */
export async function startRig(options: Partial<ListenerOptions> = {}): Promise<Rig> {
  const hub = await createFakeHub([document, otherDocument]);
  const [study, other] = hub.studies().map((view) => view.studyId) as [string, string];
  const logs: LogRecord[] = [];
  const log = (level: string) =>
    (fields: object, text: string) => void logs.push({ level, fields, text });
  const metrics = createServerMetrics(() => hub.studies().map(({ name }) => name));
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const listener = await createListener({
    hub, clock: systemClock, logger, host: '127.0.0.1', port: 0, operatorToken, metrics, ...options,
  });
  cleanups.push(() => listener.close(false));
  const open = async (): Promise<WireClient> => {
    const client = await WireClient.open(listener.port);
    cleanups.push(async () => client.ws.terminate());
    return client;
  };
  const contributor = async (): Promise<WireContributor> =>
    WireContributor.open(await open(), study);
  return {
    hub, listener, metrics, logs, study, other, open, contributor,
    url: (path) => `${listener.address}${path}`,
    async expectService() {
      const someone = await contributor();
      expect((await someone.send(1n)).accepted).toEqual([1n]);
      someone.client.close();
    },
  };
}

/** Waits until `condition` holds; the test's own time limit ends a wait that never does. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}
