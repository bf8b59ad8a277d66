import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Contributors } from '../../src/audit/contract.js';
import { checkRelease, type ReleaseResult } from '../../src/audit/exact/release-check.js';
import { Sensitive } from '../../src/base/brands.js';
import { fromHex, toBase64, utf8 } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import { seededNoise } from '../../src/random/insecure.js';
import { signing } from '../../src/signing/node.js';
import { signBatch, signHello, signWithdrawal, type Signer } from '../../src/signing/index.js';
import {
  batchCells, decodeBatchBody, decodeReleaseBody, encodeBatchBody, encodeCells,
  encodeClientFrame, joinFrames, type ClientFrame, type Welcome,
} from '../../src/wire/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { createListener, type Listener } from '../../server/listener/index.js';
import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { foundKeys } from '../support/found-keys.js';
import { Bench, batchOf, everyMs, questionsDocument } from '../support/hub-bench.js';
import { RawSocket, rawRequest, type RawFrame } from '../support/outsider.js';
import { pinRandom, type PinnedRandom } from '../support/pinned-random.js';
import { UploadClient } from '../support/upload-client.js';
import { settle } from '../support/virtual-clock.js';

/*
 * Claim: under secret participation, below `peopleMax` and the limits of sockets, everything that
 * an outsider can read is the same whether one person takes part or not, except the bodies of
 * releases and what follows from them.
 *
 * Both worlds have the same crowd, virtual clock and random numbers, and an outsider who does the
 * same over real sockets. In one of them a person takes part as well, over HTTP, with many keys.
 * `told` lists what may differ.
 */

const rowsMax = 64;
const types: readonly ColumnType[] = [{ type: 'text', bytes: 64, optional: true }];
const columns = ['app'];
const tickMs = 1_000;
const stepMs = 500;
/** People of each epoch that are the same in both worlds. */
const crowd = 90;
/** Keys with which the outsider takes places. */
const ownKeys = 24;
const socketChannels = ownKeys + 1;
const peopleEnough = 640;

function study(peopleMax: number): StudyDefinition {
  return defineStudy(questionsDocument([{
    name: 'found', estimator: 'count', columns: [], where: [], reduce: 'one', part: 100,
    parameters: parseParameters(findEstimator('count').parameters, {}, { dimension: 1 }),
    by: { columns, groupsMax: rowsMax, discover: { top: 4, prefilter: 2 } },
  }], {
    study: 'apps', columns, types, cohort: 100, peopleMax, contribution: { rowsMax },
    privacy: { epsilon: 8, delta: 1e-6 },
    budget: { epsilon: 64, delta: 1e-5, rule: 'zcdp', scope: 'study' },
  }));
}

interface World {
  readonly hasPerson: boolean;
  readonly peopleMax?: number;
  /** A defect that is planted: what is inside nonces can be read. */
  readonly plainNonces?: boolean;
}

/** What the outsider read, in order, each with the time by the virtual clock. */
type Transcript = string[];

/** Texts of one person's rows; null where the cell is absent. */
function batchFacts(studyId: string, sequence: bigint, epoch: bigint, texts: (string | null)[]) {
  const names = [...new Set(texts.filter((text) => text !== null))];
  return {
    studyId: fromHex(studyId), sequence, epoch, last: false, rows: texts.length, columns: 1,
    dataType: 'float64' as const, data: new Uint8Array(0),
    cells: encodeCells(
      Float64Array.from(texts, (text) => (text === null ? NaN : names.indexOf(text))),
      types, 'float64', names),
  };
}

const absent = (rows: number): null[] => new Array<null>(rows).fill(null);
const personsKeys = ['chess', 'maps', ...Array.from({ length: 20 }, (_, i) => `own ${i}`)];

/** A server, and what the outsider finds out about it. */
class Stage {
  readonly bench = new Bench();
  readonly transcript: Transcript = [];
  readonly #random: PinnedRandom;
  readonly #heads = new Map<string, Uint8Array>();
  #working: Promise<unknown> = Promise.resolve();
  hub!: RunningHub;
  listener!: Listener;
  #startMs = 0;
  readonly #ends: (() => Promise<void>)[] = [() => this.bench.close()];

  constructor(private readonly world: World) {
    this.#random = pinRandom(world.plainNonces);
  }

  get studyId(): string {
    return this.hub.studies()[0]!.studyId;
  }

  async start(): Promise<void> {
    const { bench, world } = this;
    const runner = new InlineEpochRunner({ noise: () => seededNoise('worlds') });
    const release = runner.release.bind(runner);
    runner.release = (...of) => {
      const released = release(...of);
      this.#working = Promise.allSettled([this.#working, released]);
      return released;
    };
    const started = bench.start(
      [study(world.peopleMax ?? peopleEnough)], { runner, releaseTickMs: tickMs });
    let hub: RunningHub | undefined;
    started.then((running) => { hub = running; }, () => undefined);
    for (await settle(); hub === undefined; await settle()) {
      await Promise.race([started, settle()]);
      await bench.clock.advance(1);
    }
    this.hub = hub;
    this.#ends.push(() => this.hub.close());
    // Whatever the machine took: from here on both worlds have the same time.
    const nothing = (): void => undefined;
    this.listener = await createListener({
      hub, clock: bench.clock, host: '127.0.0.1', port: 0, operatorToken: 'a-token-for-tests',
      logger: { debug: nothing, info: nothing, warn: nothing, error: (fields) => {
        bench.failures.push(fields);
      } },
      limits: { channelsPerSocket: socketChannels }, descriptors: 20_000,
    });
    this.#ends.push(() => this.listener.close(false));
    this.#startMs = bench.clock.nowMs();
    await this.#noteHead();
  }

  async stop(): Promise<void> {
    try {
      for (const end of this.#ends.reverse()) await end();
    } finally {
      this.#random.restore();
    }
  }

  get sinceMs(): number {
    return this.bench.clock.nowMs() - this.#startMs;
  }

  note(what: string, came: string): void {
    this.transcript.push(`${this.sinceMs} ms, ${what}\n${came}`);
  }

  as: PinnedRandom['as'] = (actor, act) => this.#random.as(actor, act);

  /** Lets a step of time pass, and waits for the work that it began. */
  async pass(): Promise<void> {
    await this.bench.clock.advance(stepMs);
    await this.#working;
    await settle();
    await this.#noteHead();
  }

  /** The crowd is no part of the difference, so it needs no sockets. */
  async feed(epoch: bigint): Promise<void> {
    const { studyId } = this;
    const sent = Array.from({ length: crowd }, (_, i) => {
      const facts = batchFacts(studyId, epoch, epoch, i % 3 === 0 ? ['maps', 'chess'] : ['chess']);
      const body = encodeBatchBody(facts);
      return this.hub.submit({
        ...batchOf(studyId, i, epoch), ...facts, studyId, body,
        ...batchCells(decodeBatchBody(body), types),
      });
    });
    for (const { verdict } of await Promise.all(sent)) expect(verdict).toBe('accepted');
  }

  /** The person, if there is one: over HTTP, with all keys, and with more rows than count. */
  async visit(epoch: bigint, withdraws: boolean): Promise<void> {
    if (!this.world.hasPerson) return;
    await this.as('insider', async () => {
      const person = await UploadClient.begin(
        this.listener.address, this.studyId, signing.createSigner(utf8('p'.repeat(32))));
      const batch = person.batch(
        2n * epoch, { ...batchFacts(this.studyId, 2n * epoch, epoch, personsKeys) });
      const more = person.batch(
        2n * epoch + 1n, { ...batchFacts(this.studyId, 2n * epoch + 1n, epoch, absent(rowsMax)) });
      const answer = await person.send(batch, more);
      expect(answer.status).toBe(200);
      expect(answer.frames.flatMap((frame) => (frame.kind === 'ack' ? frame.accepted : [])))
        .toContain(2n * epoch);
      if (!withdraws) return;
      const { frames } = await person.send(person.withdrawal(epoch));
      expect(frames).toContainEqual(expect.objectContaining({ withdrawn: epoch }));
    });
  }

  /** The head is signed anew when the log grows; both are what follows from a release. */
  async #noteHead(): Promise<void> {
    const { body, signature } = await this.hub.head(this.studyId);
    const count = this.hub.study(this.studyId)!.releaseCount;
    this.#heads.set(`${count} releases`, body);
    this.#heads.set(`signature of ${count} releases`, signature);
  }

  /** Names for the bytes that may differ: see `told`. */
  async released(): Promise<ReadonlyMap<string, Uint8Array>> {
    const named = new Map<string, Uint8Array>();
    for (const { index, body, signature } of await this.hub.releases(this.studyId, 0, 99)) {
      named.set(`release ${index}`, body);
      named.set(`signature of release ${index}`, signature);
    }
    for (const [name, bytes] of this.#heads) if (!/\b0 rel/.test(name)) named.set(name, bytes);
    return named;
  }
}

/** What a body states beside its answers and the digest of the release before it. */
function statement(body: Uint8Array): string {
  return JSON.stringify(decodeReleaseBody(body), (name, each: unknown) => {
    if (name === 'outcome' || name === 'previousDigest') return undefined;
    if (each instanceof Uint8Array) return Buffer.from(each).toString('hex');
    return typeof each === 'bigint' ? String(each) : each;
  });
}

/**
 * The transcript, with names in place of exactly these bytes, in base64: bodies of releases and
 * their signatures; heads of the log, which have the digest of the last release, and their
 * signatures; the ETag of a page of the log, which is the hash of a head. The length of an answer
 * that has any of them is that of its named form. What a body states beside its answers stays.
 */
function told(transcript: Transcript, released: ReadonlyMap<string, Uint8Array>): Transcript {
  const names = new Map<string, string>();
  for (const [name, bytes] of released) {
    names.set(toBase64(bytes), name);
    for (let from = 0; from < 4; from++) {
      names.set(createHash('sha256').update(bytes).update(`${from}`).digest('base64url'),
        `ETag of ${name} from ${from}`);
    }
  }
  return transcript.map((entry) => {
    let named = entry;
    for (const [bytes, name] of names) named = named.replaceAll(bytes, `<${name}>`);
    if (named === entry) return entry;
    return named.replace(/^Content-Length: \d+/gm, 'Content-Length: (of the answer)')
      .replace(/(?<=\r\n)[0-9a-f]+\r\n(?=.)/gs, '(size of the chunk)\r\n');
  });
}

/** The outsider's keys and sockets. */
class Outsider {
  readonly signers = Array.from({ length: ownKeys + 2 }, (_, i) =>
    signing.createSigner(signing.sha512(utf8(`own key ${i}`)).subarray(0, 32)));
  #welcome!: Welcome;
  socket!: RawSocket;

  constructor(private readonly stage: Stage) {}

  get #studyId(): Uint8Array {
    return fromHex(this.stage.studyId);
  }

  get #context() {
    return { serverKey: this.#welcome.serverKey, studyId: this.#studyId };
  }

  async request(
    line: string, headers: Readonly<Record<string, string>> = {}, body = '',
  ): Promise<string> {
    const answer = await rawRequest(this.stage.listener.port, line, headers, body);
    this.stage.note(line, answer);
    return answer;
  }

  /** Opens a socket, and reads Welcome. */
  async connect(): Promise<RawSocket> {
    const { socket, head } = await RawSocket.webSocket(this.stage.listener.port);
    this.stage.note('upgrade', head);
    const [welcome] = await this.hear(socket, 'Welcome', 1);
    this.#welcome = welcome!.frame as Welcome;
    return socket;
  }

  /** Writes down what comes. */
  async hear(
    socket: RawSocket, what: string, messages: number, rests = false,
  ): Promise<readonly RawFrame[]> {
    const frames = await socket.receive(messages, rests);
    for (const { opcode, bytes, frame } of frames) {
      if (frame?.kind === 'release' || frame?.kind === 'head') {
        const { kind, body, signature } = frame;
        this.stage.note(`${what}: ${kind}`, `${toBase64(body)} ${toBase64(signature)}`);
      } else {
        this.stage.note(`${what}: opcode ${opcode} ${frame?.kind ?? ''}`, bytes.toString('hex'));
      }
    }
    return frames;
  }

  hello(signer: Signer, serverNonce = this.#welcome.serverNonce): ClientFrame {
    const clientNonce = new Uint8Array(32).fill(3);
    return {
      kind: 'hello', studyId: this.#studyId, publicKey: signer.publicKey, clientNonce,
      signature: signHello(signer, this.#context, { serverNonce, clientNonce }),
    };
  }

  batch(
    signer: Signer, channel: number, sequence: bigint, epoch: bigint, texts: (string | null)[],
  ): ClientFrame {
    const body = encodeBatchBody(batchFacts(this.stage.studyId, sequence, epoch, texts));
    const signature = signBatch(signer, this.#context, signing.sha512(body));
    return { kind: 'batch', channel, body, signature };
  }

  withdrawal(signer: Signer, channel: number, epoch: bigint): ClientFrame {
    return {
      kind: 'withdraw', channel, epoch, signature: signWithdrawal(signer, this.#context, epoch),
    };
  }

  /** Sends frames one after the other, each when the one before has its answer. */
  async say(
    what: string, frames: readonly ClientFrame[], messages = 1, socket = this.socket,
  ): Promise<readonly RawFrame[]> {
    const all: RawFrame[] = [];
    for (const frame of frames) {
      socket.send(frame);
      all.push(...await this.hear(socket, what, messages));
    }
    return all;
  }

  /** Says what a server refuses by reading nothing more for a while. */
  async annoy(what: string, frame: ClientFrame, socket = this.socket): Promise<void> {
    socket.send(frame);
    await this.hear(socket, what, 1, true);
    await this.stage.as('server', () => this.stage.pass());
    await this.hear(socket, 'after its rest', 0);
  }

  /** Uploads over HTTP: two nonces, a batch, the same bytes again, and no frames at all. */
  async upload(signer: Signer, epoch: bigint): Promise<void> {
    const headers = { 'Content-Type': 'application/x-protobuf' };
    const first = await this.request('POST /v1/batches', headers);
    const nonce = /Keelson-Nonce: ([0-9a-f]{64})/.exec(first)![1]!;
    const body = Buffer.from(joinFrames([
      this.hello(signer, fromHex(nonce)), this.batch(signer, 1, epoch, epoch, ['letters', null]),
    ].map(encodeClientFrame))).toString('latin1');
    await this.request('POST /v1/batches', { ...headers, 'Keelson-Nonce': nonce }, body);
    await this.request('POST /v1/batches', { ...headers, 'Keelson-Nonce': nonce }, body);
    await this.request('POST /v1/batches', headers, body);
    await this.request('POST /v1/batches', { 'Content-Type': 'text/plain' });
  }

  /** Everything that anybody may ask for, with and without what changes the answer. */
  async look(): Promise<void> {
    const releases = '/v1/studies/apps/releases';
    for (const path of ['/healthz', '/readyz', '/v1/studies', '/v1/ledger',
      '/v1/releases?study=apps', releases, `${releases}?from=1`, '/v1/studies/apps/notes']) {
      await this.request(`GET ${path}`);
      await this.request(`HEAD ${path}`);
    }
    const page = await this.request(`GET ${releases}`);
    const tag = /ETag: (".*")/.exec(page)![1]!;
    await this.request(`GET ${releases}`, { 'If-None-Match': tag });
    await this.request(`GET ${releases}`, { Accept: 'application/x-ndjson' });
    await this.request(`GET ${releases}`, { Accept: 'text/event-stream', 'Last-Event-ID': '9' });
    for (const path of ['/metrics', '/v1/operator/progress', '/v1/operator/history', '/nothing',
      '/v1/studies/nothing/releases', `${releases}?from=x`]) await this.request(`GET ${path}`);
    await this.request('DELETE /v1/studies');
    await this.request('GET /v1/studies', { Host: 'elsewhere.example' });
  }

  /** Fills places with own keys and absent cells, half as many at each refusal. */
  async fill(epoch: bigint): Promise<number> {
    let overloaded = 0;
    let rows = rowsMax;
    for (const [i, signer] of this.signers.slice(0, ownKeys).entries()) {
      for (let tries = 0n; tries < 3n; tries++) {
        const sequence = 4n * epoch + tries;
        const answers = await this.say(`key ${i} sends ${rows} absent cells`, [
          this.batch(signer, i + 1, sequence, epoch, absent(rows)),
        ]);
        const codes = answers.flatMap(({ frame }) =>
          (frame?.kind === 'ack' ? frame.rejections.map(({ code }) => code) : []));
        if (!codes.includes('overloaded')) break;
        overloaded += 1;
        rows = Math.max(1, Math.floor(rows / 2));
      }
    }
    return overloaded;
  }
}

/** What the outsider does at first: pages, a stream, more channels than a socket may have. */
async function begin(outsider: Outsider, stage: Stage): Promise<RawSocket> {
  const { signers } = outsider;
  for (const path of ['/', '/operator', '/plan', '/kiosk', '/embed/apps', '/favicon.svg',
    '/dashboard.css']) await outsider.request(`GET ${path}`);
  await outsider.look();
  outsider.socket = await outsider.connect();
  const hellos = signers.map((signer) => outsider.hello(signer));
  await outsider.say('Hello', hellos.slice(0, socketChannels));
  await outsider.annoy('one Hello more', hellos.at(-1)!);
  await outsider.say('Subscribe', [
    { kind: 'subscribe', studyId: fromHex(stage.studyId), fromRelease: 0n },
  ]);
  const { socket, head } = await RawSocket.open(
    stage.listener.port, '/v1/studies/apps/releases', { Accept: 'text/event-stream' });
  stage.note('event stream', head);
  return socket;
}

/** Frames that no client with manners sends, on sockets of their own. */
async function misbehave(outsider: Outsider, epoch: bigint): Promise<void> {
  const [signer, other] = outsider.signers as [Signer, Signer];
  const first = outsider.batch(signer, 1, 4n * epoch, epoch, absent(rowsMax));
  await outsider.say('a repeated batch', [first, first]);
  await outsider.say('batches that are refused', [
    outsider.batch(signer, 1, 4n * epoch + 20n, epoch + 9n, ['letters']),
    outsider.batch(signer, 1, 4n * epoch + 21n, epoch + 2n, ['letters']),
    outsider.batch(signer, 1, 4n * epoch + 22n, epoch, absent(rowsMax)),
    outsider.batch(other, 99, 1n, epoch, ['letters']),
  ]);
  await outsider.say('a withdrawal', [outsider.withdrawal(other, 2, epoch)]);
  const forging = await outsider.connect();
  await outsider.say('Hello', [outsider.hello(signer)], 1, forging);
  await outsider.say(
    'a forged batch', [outsider.batch(other, 1, 1n, epoch, ['letters'])], 1, forging);
  await outsider.annoy('a forged Hello', outsider.hello(signer, new Uint8Array(32)), forging);
  for (let i = 0; i < 3; i++) {
    forging.sendBytes(Uint8Array.of(255, 1, i));
    await outsider.hear(forging, 'a malformed frame', 1);
  }
  forging.destroy();
}

interface Read {
  readonly transcript: Transcript;
  readonly bodies: readonly Uint8Array[];
  /** Own batches that had no place. */
  readonly overloaded: number;
}

/** Two epochs and their releases, as an outsider sees them. */
async function read(world: World): Promise<Read> {
  const stage = new Stage(world);
  let overloaded = 0;
  try {
    await stage.start();
    const outsider = new Outsider(stage);
    const act = <T>(acts: () => Promise<T>): Promise<T> => stage.as('outsider', acts);
    const stream = await act(() => begin(outsider, stage));
    for (const epoch of [1n, 2n]) {
      await stage.as('insider', () => stage.feed(epoch));
      await act(() => outsider.upload(outsider.signers.at(-1)!, epoch));
      await stage.visit(epoch, epoch === 2n);
      overloaded += await act(() => outsider.fill(epoch));
      await act(() => misbehave(outsider, epoch));
      await act(() => outsider.look());
      // The release has its place two ticks after the close, and the next epoch is open then.
      while (stage.sinceMs < Number(epoch) * everyMs + 2 * tickMs) {
        await stage.pass();
        await act(() => outsider.hear(outsider.socket, 'a step later', 0));
      }
    }
    await act(() => outsider.look());
    const closed = stage.listener.close();
    for (const { opcode, bytes } of await outsider.socket.frames()) {
      stage.note(`at the end: opcode ${opcode}`, bytes.toString('hex'));
    }
    stage.note('the event stream', await stream.rest());
    await closed;
    expect(stage.bench.failures).toEqual([]);
    const released = await stage.released();
    const bodies = [...released].flatMap(([name, body]) => (/^release/.test(name) ? [body] : []));
    return {
      transcript: [...told(stage.transcript, released), ...bodies.map(statement)],
      bodies, overloaded,
    };
  } finally {
    await stage.stop();
  }
}

/** The first entry in which two transcripts differ. */
function difference(one: Transcript, other: Transcript): readonly (string | undefined)[] | null {
  const at = Array.from({ length: Math.max(one.length, other.length) }, (_, i) => i)
    .find((i) => one[i] !== other[i]);
  return at === undefined ? null : [one[at], other[at]];
}

/** How the bodies are judged that may differ: call by call, on the rows of the two worlds. */
async function checkedRelease(): Promise<ReleaseResult> {
  const { document: { privacy } } = study(peopleEnough);
  const facts: StudyFacts = {
    dimension: 1, cohort: 100, participation: 'secret', target: privacyTarget(privacy),
    keys: { list: 'discovered', groupsMax: rowsMax, top: 4, prefilter: 2 },
  };
  const count = findEstimator('count');
  const plan = count.plan(parseParameters(count.parameters, {}, facts), facts);
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  const texts = personsKeys;
  const people = Array.from({ length: crowd }, (_, i) =>
    (i % 3 === 0 ? ['maps', 'chess'] : ['chess']));
  const rowsOf = (who: readonly (readonly string[])[]): Contributors => ({
    count: who.flat().length,
    rows: Float64Array.from(who.flat(), (text) => texts.indexOf(text)),
    assignmentHashes: Uint8Array.from(who.flatMap((own, i) =>
      own.flatMap(() => [...signing.sha512(utf8(`person ${i}`)).subarray(0, 32)]))),
  });
  const [left, right] = [rowsOf(people), rowsOf([...people, texts])];
  return checkRelease({
    subject: { plan, dimension: 1 }, prefixes: 4, pairs: [{ name: 'one person', left, right }],
    keys: Sensitive.of(foundKeys(texts)),
  });
}

describe('two worlds that differ in one person', { tags: ['long'] }, () => {
  let without: Read;
  beforeAll(async () => { without = await read({ hasPerson: false }); });

  it('are the same for an outsider, but for bodies of releases', async () => {
    const withOne = await read({ hasPerson: true });
    expect(difference(without.transcript, withOne.transcript)).toBeNull();
    expect([without.overloaded, withOne.overloaded]).toEqual([0, 0]);
    expect(without.bodies.length).toBe(2);
    expect(withOne.bodies).not.toEqual(without.bodies);
    for (const body of withOne.bodies) {
      expect(decodeReleaseBody(body).answers[0]!.outcome.kind).toBe('value');
    }
    expect(without.transcript.length).toBeGreaterThan(200);
  });

  it('have releases whose difference is charged', async () => {
    const { faults, moved, answered } = await checkedRelease();
    expect(faults).toEqual([]);
    expect([moved, answered].map((prefixes) => prefixes > 0)).toEqual([true, true]);
  });

  // The stated exact answer: see "What limits across people tell" in the threat model.
  it('differ where the person fills the epoch', async () => {
    const peopleMax = crowd + ownKeys + 1;
    const full = await read({ hasPerson: true, peopleMax });
    const notFull = await read({ hasPerson: false, peopleMax });
    expect([notFull.overloaded, full.overloaded > 0]).toEqual([0, true]);
    expect(difference(notFull.transcript, full.transcript)?.[0]).toMatch(/sends 64 absent cells/);
  });

  it('would differ if nonces showed their count', { tags: ['slow'] }, async () => {
    const [one, other] = [false, true].map((hasPerson) => ({ hasPerson, plainNonces: true }));
    const found = difference((await read(one!)).transcript, (await read(other!)).transcript);
    expect(found?.[0]).toMatch(/POST \/v1\/batches\nHTTP\/1.1 200/);
  });
});
