import { signing } from '#signing';
import { signHello, signReady, verifyHello, verifyReady } from '../../src/signing/index.js';
import type { Io } from '../base/io.js';

/** How many people take part, how long each epoch is, and how many epochs are shown. */
export interface Fit {
  readonly contributors: number;
  readonly epochMs: number;
  readonly epochs: number;
}

/** The values from the command line. Missing ones are fitted to the machine. */
export interface FitRequest {
  readonly contributors: number | undefined;
  readonly epochMs: number | undefined;
  readonly epochs: number | undefined;
  /** For each release. With a smaller epsilon, an answer needs more people. */
  readonly epsilon: number;
  /** Number of studies in which everybody takes part. */
  readonly studies: number;
  /** Most people that are chosen. Default 6,000. */
  readonly contributorsMost?: number;
}

/**
 * For epsilon 1: from about this number on, `robust-mean` notices the usual attack in most epochs,
 * also as one of the ten questions.
 */
const contributorsLeastAtOne = 3_200;
/** Longest time for connecting everybody, in milliseconds. */
const connectMs = 8_000;
/** An epoch as a share of the time for connecting. Its rows are about half of that work. */
const epochShare = 0.75;
const epochLeastMs = 4_000;
const epochsMost = 5;
const epochsLeast = 2;
/** Longest time for all epochs together, in milliseconds. */
const showMs = 36_000;
/** A whole session (sockets, frames, two threads) costs this many times its signatures. */
const sessionCost = 2.2;

/**
 * Chooses the missing values. Connecting takes some seconds, and an epoch has time for everybody's
 * rows. Everything ends within a minute if that leaves enough people for an answer.
 */
export function fitDemo(request: FitRequest, handshakesPerSecond: number): Fit {
  const { contributors, epochMs, epochs, epsilon, studies, contributorsMost = 6_000 } = request;
  const peoplePerMs = handshakesPerSecond / (1000 * sessionCost * studies);
  const limitMs = epochMs === undefined ? connectMs : Math.min(connectMs, epochMs / epochShare);
  const least = Math.min(contributorsMost, Math.ceil(contributorsLeastAtOne / epsilon));
  const people = contributors
    ?? Math.max(least, Math.min(contributorsMost, roundDown(peoplePerMs * limitMs)));
  const neededMs = (epochShare * people) / peoplePerMs;
  const lengthMs = epochMs ?? 1000 * Math.ceil(Math.max(epochLeastMs, neededMs) / 1000);
  return {
    contributors: people,
    epochMs: lengthMs,
    epochs: epochs ?? Math.max(epochsLeast, Math.min(epochsMost, Math.floor(showMs / lengthMs))),
  };
}

const roundDown = (people: number): number => 100 * Math.floor(people / 100);

const measureMs = 500;
/** Measures at least this many, also on a machine that stops in between. */
const handshakesLeast = 20;

/**
 * How many handshakes of a contributor's session this machine can sign and verify per second. Takes
 * half a second.
 */
export function measureHandshakes(io: Pick<Io, 'monotonicMs'>): number {
  const server = signing.createSigner(signing.randomBytes(32));
  const serverVerifier = signing.createVerifier(server.publicKey);
  const studyId = signing.randomBytes(32);
  const context = { serverKey: server.publicKey, studyId };
  const startedMs = io.monotonicMs();
  let handshakes = 0;
  let elapsedMs = 0;
  while (elapsedMs < measureMs || handshakes < handshakesLeast) {
    const nonces = { serverNonce: signing.randomBytes(32), clientNonce: signing.randomBytes(32) };
    const signer = signing.createSigner(signing.randomBytes(32));
    const hello = signHello(signer, context, nonces);
    verifyHello(signing.createVerifier(signer.publicKey), context, nonces, hello);
    const ready = signReady(server, studyId, signer.publicKey, nonces);
    verifyReady(serverVerifier, studyId, signer.publicKey, nonces, ready);
    handshakes += 1;
    elapsedMs = io.monotonicMs() - startedMs;
  }
  return (1000 * handshakes) / elapsedMs;
}
