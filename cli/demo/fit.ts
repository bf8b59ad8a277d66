import { signing } from '#signing';
import { signHello, signReady, verifyHello, verifyReady } from '../../src/signing/index.js';
import type { Io } from '../base/io.js';

/** How many people, for how long each epoch takes their rows, and how many epochs are shown. */
export interface Fit {
  readonly contributors: number;
  readonly epochMs: number;
  readonly epochs: number;
}

/** What was asked for on the command line; what was not is fitted to the machine. */
export interface FitRequest {
  readonly contributors: number | undefined;
  readonly epochMs: number | undefined;
  readonly epochs: number | undefined;
  /** Of each release: the smaller, the more people an answer needs. */
  readonly epsilon: number;
  /** In which everybody takes part. Default 2. */
  readonly studies?: number;
  /** The most people to choose. Default 6,000. */
  readonly contributorsMost?: number;
}

/** At epsilon 1: two and a half times what the plan of `robust-mean` needs, so that it sees the usual attack. */
const contributorsLeastAtOne = 2_000;
/** What connecting everybody may take. */
const connectMs = 8_000;
/** An epoch as a share of the time that connecting takes. Its rows are about half of that work. */
const epochShare = 0.75;
const epochLeastMs = 4_000;
const epochsMost = 5;
const epochsLeast = 2;
/** What all epochs together may take. */
const showMs = 36_000;
/** A whole session (sockets, frames, two threads) takes this many times its signatures. */
const sessionCost = 2.2;

/**
 * Chooses what was not asked for, so that connecting takes some seconds, an epoch has time for everybody's rows, and all
 * is over within a minute wherever that leaves enough people for an answer.
 */
export function fitDemo(request: FitRequest, handshakesPerSecond: number): Fit {
  const { contributors, epochMs, epochs, epsilon, studies = 2, contributorsMost = 6_000 } = request;
  const peoplePerMs = handshakesPerSecond / (1000 * sessionCost * studies);
  const limitMs = epochMs === undefined ? connectMs : Math.min(connectMs, epochMs / epochShare);
  const least = Math.min(contributorsMost, Math.ceil(contributorsLeastAtOne / epsilon));
  const people = contributors ?? Math.max(least, Math.min(contributorsMost, roundDown(peoplePerMs * limitMs)));
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
/** A machine that is stopped in the middle has done this many at least. */
const handshakesLeast = 20;

/** How many handshakes of a contributor's session this machine signs and verifies per second, now. Takes half a second. */
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
