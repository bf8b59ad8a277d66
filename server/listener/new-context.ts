import { protocolLimits as defaultLimits } from '../../src/base/limits.js';
import { createServerMetrics } from '../metrics/server-metrics.js';
import { noTracing } from '../base/tracing.js';
import { AddressCounts } from '../network/address-counts.js';
import { inlineChecks } from '../checks/inline.js';
import { BodyMemory } from '../checks/body-memory.js';
import { SubscriberRegistry } from './subscriber-registry.js';
import { clientAddressOf, trustedProxyCheck } from '../network/client-address.js';
import type { ListenerContext } from './context.js';
import { eventFrame } from './event-frames.js';
import { KeyShares } from './key-shares.js';
import { LogReads } from '../network/log-reads.js';
import type { ListenerOptions } from '../network/options.js';
import { AddressRates, AddressTurns } from '../network/rates.js';
import { Signal } from './signal.js';

/** The options from which the shared context of a listener's sessions is made. */
export type ContextOptions =
  Pick<
    ListenerOptions,
    'hub' | 'clock' | 'logger' | 'tracing' | 'limits' | 'metrics' | 'trustedProxies' | 'checks'
    | 'takesBatches' | 'encryptedOnly'
  >;

/** A new context, without sessions. */
export function contextOf(options: ContextOptions): ListenerContext {
  const limits = { ...defaultLimits, ...options.limits };
  const { clock } = options;
  const metrics = options.metrics
    ?? createServerMetrics(() => options.hub.studies().map(({ name }) => name));
  const rates = (perSecond: number, burst: number): AddressRates =>
    new AddressRates(clock, perSecond, burst, limits.rateAddresses);
  return {
    hub: options.hub,
    clock,
    logger: options.logger,
    tracing: options.tracing ?? noTracing,
    limits,
    metrics,
    checks: options.checks ?? inlineChecks(new BodyMemory()),
    subscribers: new SubscriberRegistry(),
    clientAddress: clientAddressOf(options.trustedProxies ?? []),
    isTrustedProxy: trustedProxyCheck(options.trustedProxies ?? []),
    channelsOf: new AddressCounts(),
    connectionRates: rates(limits.connectionsPerSecond, limits.connectionsBurst),
    helloRates: rates(limits.helloPerSecond, limits.helloBurst),
    subscribeRates: rates(limits.subscribePerSecond, limits.subscribeBurst),
    rests: new AddressTurns(clock, limits.pauseMs, limits.subscriberStallMs, limits.rateAddresses),
    logReads: new LogReads(limits, metrics),
    shares: new KeyShares(clock, (share) => options.hub.signShare(share)),
    settled: new Signal(clock),
    takesBatches: options.takesBatches ?? true,
    encryptedOnly: options.encryptedOnly ?? false,
    stopping: false,
  };
}

/** Passes the hub's events to the subscribers. @returns a function that stops it. */
export function followHub({ subscribers, hub, clock, logger }: ListenerContext): () => void {
  return subscribers.follow(
    hub,
    (event) => eventFrame(event, hub, clock.nowMs()),
    (error) => logger.error({ err: error }, 'an event could not be sent to a subscriber'),
  );
}
