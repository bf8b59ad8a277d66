import type { IncomingMessage, ServerResponse } from 'node:http';
import { didYouMean } from '../../src/base/suggest.js';
import type { Clock } from '../base/clock.js';
import type { StudyHub, StudyView } from '../studies/contract.js';
import type { ClientAddress } from '../network/client-address.js';
import type { LogReads } from '../network/log-reads.js';
import type { Logger } from '../base/logger.js';
import type { ListenerLimits } from '../network/options.js';
import type { StoreHealth } from '../store/health.js';
import { HttpError } from './http-error.js';
import type { FigureHistory } from '../metrics/figure-history.js';
import type { OutcomeHistory } from './outcome-history.js';
import type { OperatorNotes } from '../base/operator-records.js';
import type { ServerMetrics } from '../metrics/server-metrics.js';
import type { OperatorSessions } from './sessions.js';

/** The state that the HTTP routes read. */
export interface HttpOptions {
  readonly hub: StudyHub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: ListenerLimits;
  readonly logReads: LogReads;
  readonly metrics: ServerMetrics;
  readonly storeHealth: (() => Promise<StoreHealth>) | undefined;
  readonly figures: FigureHistory;
  readonly notes: OperatorNotes;
  readonly operatorToken: string;
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may show the embedded pages in a frame. */
  readonly frameAncestors: readonly string[];
  readonly clientAddress: ClientAddress;
  readonly isStopping: () => boolean;
  /** True if this server takes batches while it can. */
  readonly takesBatches: boolean;
  /** True: rows are taken on encrypted channels alone. */
  readonly encryptedOnly: boolean;
  readonly events: BeginEvents;
  /** Answers POST /v1/once. @throws (rejects) HttpError. */
  readonly once: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Welcome with one study, for a contribution without a channel. */
  readonly welcome: (view: StudyView) => Uint8Array;
  /** Answers POST /v1/batches. @throws (rejects) HttpError. */
  readonly upload: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** Begins a stream of events, from the release of an index on. @throws HttpError. */
export type BeginEvents = (
  request: IncomingMessage, response: ServerResponse, view: StudyView, from: number,
) => void;

/** One request whose access was checked. */
export interface Exchange extends HttpOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly sessions: OperatorSessions;
  readonly outcomes: OutcomeHistory;
  readonly query: URLSearchParams;
  /** The request has the operator's token, or the cookie of a browser that signed in with it. */
  readonly operator: boolean;
  /** The request has the token itself. */
  readonly withToken: boolean;
  readonly isHead: boolean;
}

/** Finds one study by id, or by name. A name gives the newest version, an open one first. */
export function findStudy(hub: StudyHub, nameOrId: string | null): StudyView {
  if (nameOrId === null || nameOrId === '') {
    throw new HttpError(400, 'bad-request', 'say which study: ?study=NAME or ?study=ID');
  }
  const named = hub.studies().filter((view) => view.name === nameOrId);
  const found = hub.study(nameOrId.toLowerCase()) ?? named.find((view) => view.state === 'open')
    ?? named[0];
  if (found === undefined) {
    const near = didYouMean(nameOrId, hub.studies().map((view) => view.name));
    const text = `no such study${near === '' ? ': /v1/studies lists them' : near}`;
    throw new HttpError(404, 'unknown-study', text);
  }
  return found;
}

/** The index of a release. @throws HttpError 400. */
export function releaseIndex(text: string | null, name: string): number {
  if (text === null) return 0;
  if (!/^\d{1,15}$/.test(text)) {
    throw new HttpError(400, 'bad-request', `${name} is the index of a release: 0, 1, ...`);
  }
  return Number(text);
}
