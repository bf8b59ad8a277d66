import { factsLimits } from './facts-limits.js';
import { keyRotationsMax } from './key-rotations-max.js';

/**
 * Every limit in one place, each with its reason. Welcome tells clients the limits that they must
 * know.
 */
export const protocolLimits = {
  ...factsLimits,
  /**
   * A frame holds 256 rows of 1,024 f64 columns and some overhead. ws closes a larger one with
   * 1009.
   */
  frameBytes: 4 * 1024 * 1024,
  /** Bounds the time one batch holds the event loop. */
  rowsPerBatch: 65_536,
  /**
   * Unacknowledged batches per channel: enough to fill a 20 ms group commit, and few enough to
   * bound queues.
   */
  creditBatches: 64,
  /**
   * Frames and bytes of an encrypted channel in one direction. 2^36 blocks of AES under one key:
   * with these the advantage of a distinguisher is at most 2^-57. The client then opens another
   * channel.
   */
  channelFrames: 2 ** 24,
  channelBytes: 2 ** 40,
  /** A simulated fleet shares sockets. A browser needs one channel. */
  channelsPerSocket: 4_096,
  /**
   * The newest sequences, remembered one by one per contributor and study. Older ones are behind
   * the watermark.
   */
  sequenceWindow: 64,
  /** Wrong signatures before the socket closes. */
  badSignaturesPerSocket: 3,
  /**
   * Bytes accepted but not yet durable, over all sockets. Above it the server answers `overloaded`
   * and pauses the socket.
   */
  journalQueueBytes: 64 * 1024 * 1024,
  /** Batches accepted but not yet durable. */
  journalQueueBatches: 16_384,
  /** Group commit waits this long for more batches, in milliseconds. */
  groupCommitMs: 5,
  /** If more bytes than this wait on a subscriber's socket, it skips to the newest release. */
  subscriberBufferBytes: 1024 * 1024,
  /** A subscriber that has not drained for this long is dropped, in milliseconds. */
  subscriberStallMs: 60_000,
  /**
   * The slowest reading speed that the server waits for while it sends a release larger than
   * `subscriberBufferBytes`, in bytes per second.
   */
  readerBytesPerSecond: 16 * 1024,
  /** Hello messages per address and second, sustained and burst. */
  helloPerSecond: 2_000,
  helloBurst: 20_000,
  /**
   * Subscribe and Unsubscribe messages per address and second, sustained and burst. A Subscribe
   * reads the log and signs a head, which costs more than a Hello. A page subscribes once to each
   * study.
   */
  subscribePerSecond: 50,
  subscribeBurst: 2_000,
  /**
   * The socket closes after this many Subscribe or Unsubscribe messages above the rate, or
   * Subscribe messages before the log was sent.
   */
  hastySubscribesPerSocket: 16,
  /** Sockets per server. */
  sockets: 20_000,
  /** Sockets from one address: no address may take all sockets. */
  socketsPerAddress: 10_000,
  /**
   * TCP connections beside the sockets, over all addresses: HTTP, handshakes, and connections that
   * are refused because the server is full. One address may have half of them.
   */
  httpConnections: 1_000,
  /**
   * New TCP connections of one address, sustained and burst. Above it the server closes them
   * unread. Each may cost a TLS handshake, about a millisecond of the event loop. The burst lets
   * all sockets of an address come back after a restart.
   */
  connectionsPerSecond: 200,
  connectionsBurst: 10_000,
  /**
   * Channels over all sockets. Each holds a key and its acks, 5 KiB in all, so together they take 2
   * GiB.
   */
  channels: 400_000,
  /** Channels from one address, over all its sockets: no address may take all channels. */
  channelsPerAddress: 200_000,
  /**
   * The server remembers the rates of this many addresses (IPv6: networks of 64 bits) and forgets
   * the least recently used one.
   */
  rateAddresses: 65_536,
  /** A socket without a channel or a subscription for this long is closed, in milliseconds. */
  handshakeTimeoutMs: 10_000,
  /**
   * The server sends pings this often and closes a socket that is silent for two of them, in
   * milliseconds.
   */
  heartbeatMs: 20_000,
  /** The socket closes after this many malformed frames. */
  malformedFramesPerSocket: 3,
  /**
   * The socket closes after this many frames for unknown channels or beyond the credit: the client
   * is out of step.
   */
  strayFramesPerSocket: 16,
  /**
   * WebSocket pings and pongs of one socket, sustained and burst. Above it the server closes the
   * socket. Each is small, so a flood of them holds the event loop for long. An honest client sends
   * one in many seconds.
   */
  controlFramesPerSecond: 4,
  controlFramesBurst: 64,
  /**
   * Bytes of unfinished messages, over all sockets. Above it the server closes the sockets that
   * hold the most.
   */
  unfinishedBytes: 256 * 1024 * 1024,
  /** A paused socket is checked again after this long, in milliseconds. */
  pauseMs: 20,
  /** Releases per read from the store, for a subscriber or a download. */
  releasesPerPage: 16,
  /**
   * A page of releases ends with the release that reaches this many bytes. One release may have
   * megabytes.
   */
  releasePageBytes: 256 * 1024,
  /**
   * Pages of releases read at a time, over all subscribers and downloads. Acks wait behind these
   * reads in the store.
   */
  logReads: 4,
  /** If more bytes than this wait on a socket, the server sends it no further page of the log. */
  catchUpBufferBytes: 64 * 1024,
  /**
   * The same over all sockets that receive a log. Above it the server closes those that have not
   * read for longest.
   */
  catchUpBytes: 256 * 1024 * 1024,
  /**
   * Body of one upload over HTTP. A batch of the largest frame fits, and a list of smaller ones.
   */
  uploadBytes: 8 * 1024 * 1024,
  /** The body of an upload has to arrive within this time, in milliseconds. */
  uploadTimeoutMs: 60_000,
  /** A nonce for an upload can be used for this long, in milliseconds. */
  uploadNonceMs: 120_000,
  /** HTTP requests per address and second, sustained and burst. */
  httpPerSecond: 50,
  httpBurst: 200,
  /** HTTP requests of one connection that wait for an answer. Browsers send one at a time. */
  httpPipelined: 8,
  /** Request line and headers together. */
  httpHeaderBytes: 16 * 1024,
  /**
   * A closing listener waits this long for the last acks and for sockets to close, in milliseconds.
   */
  closeTimeoutMs: 5_000,
  /** Studies one server runs. */
  studies: 64,
  /** See keyRotationsMax. */
  keyRotations: keyRotationsMax,
} as const;

/** The names and types of `limits`. */
export type Limits = typeof protocolLimits;
