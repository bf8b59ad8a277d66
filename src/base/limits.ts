import { factsLimits } from './facts-limits.js';
import { keyRotationsMax } from './key-rotations-max.js';

/**
 * Every limit in one place, each with its reason. Those a client must know are sent in Welcome.
 */
export const limits = {
  ...factsLimits,
  /** One frame holds 256 rows of 1,024 f64 columns and change; ws closes larger ones with 1009. */
  frameBytes: 4 * 1024 * 1024,
  /** Bounds the time one batch holds the event loop. */
  rowsPerBatch: 65_536,
  /** Batches in flight per channel: enough to fill a 20 ms group commit, small enough to bound queues. */
  creditBatches: 64,
  /** A simulated fleet shares sockets; a browser needs one. */
  channelsPerSocket: 4_096,
  /** Sequences remembered singly per contributor and study; older ones are behind the watermark. */
  sequenceWindow: 64,
  /** Wrong signatures before the socket closes. */
  badSignaturesPerSocket: 3,
  /** Bytes accepted but not yet durable, over all sockets; past it: `overloaded` and the socket pauses. */
  journalQueueBytes: 64 * 1024 * 1024,
  /** Batches accepted but not yet durable. */
  journalQueueBatches: 16_384,
  /** Group commit waits this long for company, in milliseconds. */
  groupCommitMs: 5,
  /** Bytes waiting on a subscriber's socket before it skips to the newest release. */
  subscriberBufferBytes: 1024 * 1024,
  /** A subscriber that has not drained for this long is dropped, in milliseconds. */
  subscriberStallMs: 60_000,
  /** The slowest reader that is waited for while a release larger than that is on its way, in bytes per second. */
  readerBytesPerSecond: 16 * 1024,
  /** Hello messages per address and second, sustained and burst. */
  helloPerSecond: 2_000,
  helloBurst: 20_000,
  /**
   * Subscribe and Unsubscribe messages per address and second, sustained and burst. A Subscribe reads the log and signs
   * a head, which a Hello of a fleet does not; a page subscribes once to each study.
   */
  subscribePerSecond: 50,
  subscribeBurst: 2_000,
  /** Subscribe and Unsubscribe past the rate, or Subscribe before the log was sent, until the socket closes. */
  hastySubscribesPerSocket: 16,
  /** Sockets per server. */
  sockets: 20_000,
  /** Rows are averaged after each value is clipped to this range, only to keep sums finite. */
  coarseBox: 2 ** 40,
  /** Sockets from one address: no single one may take them all. */
  socketsPerAddress: 10_000,
  /**
   * TCP connections beside the sockets, over all: HTTP, handshakes under way, and those that are told that there is no room.
   * An address has half of them.
   */
  httpConnections: 1_000,
  /**
   * New TCP connections of one address, sustained and burst; past it they are closed unread. Each may cost a TLS handshake,
   * about a millisecond of the event loop. The burst lets all sockets of an address come back after a restart.
   */
  connectionsPerSecond: 200,
  connectionsBurst: 10_000,
  /** Channels over all sockets: each holds a key and its acks, 5 KiB in all, so these are 2 GiB. */
  channels: 400_000,
  /** Channels from one address, on however many sockets: no single one may take them all. */
  channelsPerAddress: 200_000,
  /** Addresses (IPv6: networks of 64 bits) whose rates are remembered; the one unused longest is forgotten. */
  rateAddresses: 65_536,
  /** A socket without a channel or a subscription for this long is closed, in milliseconds. */
  handshakeTimeoutMs: 10_000,
  /** Pings go out this often; a socket that is silent for two of them is cut, in milliseconds. */
  heartbeatMs: 20_000,
  /** Frames that cannot be read before the socket closes. */
  malformedFramesPerSocket: 3,
  /** Frames for unknown channels or past the credit before the socket closes: a client that lost its step. */
  strayFramesPerSocket: 16,
  /**
   * WebSocket pings and pongs of one socket, sustained and burst; past it the socket is cut. They are small, so a flood of
   * them holds the event loop for long, and an honest client sends one in many seconds.
   */
  controlFramesPerSecond: 4,
  controlFramesBurst: 64,
  /** Bytes of messages that have begun and not ended, over all sockets; past it those that hold most are cut. */
  unfinishedBytes: 256 * 1024 * 1024,
  /** A paused socket is looked at again after this long, in milliseconds. */
  pauseMs: 20,
  /** Releases read from the store at a time for a subscriber or a download. */
  releasesPerPage: 16,
  /** A page of releases ends with the one that reaches this many bytes: a release may have megabytes. */
  releasePageBytes: 256 * 1024,
  /** Pages of releases read at a time, over all subscribers and downloads: acks wait behind them in the store. */
  logReads: 4,
  /** Bytes waiting on a socket past which it is sent no further page of the log. */
  catchUpBufferBytes: 64 * 1024,
  /** The same over all sockets that are sent a log; past it those that have not read for longest are cut. */
  catchUpBytes: 256 * 1024 * 1024,
  /** HTTP requests per address and second, sustained and burst. */
  httpPerSecond: 50,
  httpBurst: 200,
  /** HTTP requests of one connection that wait for their answers; browsers send one at a time. */
  httpPipelined: 8,
  /** Request line and headers together. */
  httpHeaderBytes: 16 * 1024,
  /** A closing listener waits this long for acks to be written and sockets to say goodbye, in milliseconds. */
  closeTimeoutMs: 5_000,
  /** Studies one server runs. */
  studies: 64,
  /** See keyRotationsMax. */
  keyRotations: keyRotationsMax,
} as const;

/** The names and types of `limits`. */
export type Limits = typeof limits;
