import type { WireCode } from '../../src/base/error-codes.js';
import { expect } from './fault.js';
import { freshRows, type ConformanceCase, type Stage } from './stage.js';

const refusal = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ name, needs: 'contribute', run });

/** Returns the code for the first question, and null for later ones. */
function once(code: WireCode): () => WireCode | null {
  let isFirst = true;
  return () => {
    const answer = isFirst ? code : null;
    isFirst = false;
    return answer;
  };
}

/** Codes after which rows may be signed again under a free sequence. */
const renewable: ReadonlySet<WireCode> = new Set<WireCode>(['stale-epoch', 'mutated']);
/** Codes after which nothing more is taken. */
const stops: ReadonlySet<WireCode> =
  new Set<WireCode>(['quarantined', 'enrolment-expired', 'study-ended', 'budget-exhausted']);

/** A rejection that settles the batch. */
async function rejected(stage: Stage, code: WireCode): Promise<void> {
  const server = await stage.server();
  server.judge = once(code);
  await stage.open(server);
  const id = await stage.send(freshRows(2));
  const given = await stage.event((one) =>
    (one.event === 'settled' && one.id === id) || one.event === 'ended');
  const isRenewed = given.code === 'accepted' && renewable.has(code);
  expect(given.code === code || isRenewed, `the rows are settled as ${given.code}, not ${code}`);
  if (stops.has(code)) return stage.expectOnce(server, []);
  const next = await stage.send(freshRows(1));
  await stage.accepted(next);
  await stage.close();
  const { length } = server.offered;
  await stage.kill();
  await stage.open(server);
  await stage.close();
  expect(server.offered.length === length, 'a batch that was rejected for good was sent again');
  stage.expectOnce(server, isRenewed ? [id, next] : [next]);
}

/** A rejection, or a Refusal on the channel, after which the same bytes are sent again. */
async function putOff(stage: Stage, code: WireCode, by: 'Ack' | 'Refusal'): Promise<void> {
  const server = await stage.server();
  if (by === 'Ack') server.judge = once(code);
  else server.refuseChannel = once(code);
  await stage.open(server);
  const id = await stage.send(freshRows(2));
  await stage.until(server, () => server.offered.length > 0);
  if (code === 'epoch-not-open') server.openEpoch(8n);
  await stage.accepted(id);
  await stage.close();
  expect(new Set(server.offered).size === 1, 'the same bytes must be sent again');
  if (code === 'unknown-channel') expect(server.hellos > 1, 'Hello must be sent again');
  stage.expectOnce(server);
}

/** A Refusal on the channel that ends the client. */
async function channelEnds(stage: Stage, code: WireCode): Promise<void> {
  const server = await stage.server();
  server.refuseChannel = () => code;
  await stage.open(server);
  await stage.send(freshRows(2));
  await stage.ended(code);
  expect(server.offered.length === 1, `the batch was sent ${server.offered.length} times`);
}

async function helloRefused(stage: Stage, code: WireCode): Promise<void> {
  const server = await stage.server();
  server.refuseHello = code;
  await stage.open(server);
  await stage.ended(code);
  expect(server.hellos === 1, `Hello was sent ${server.hellos} times`);
  expect(server.offered.length === 0, 'a batch was sent without a channel');
}

async function helloPutOff(stage: Stage, code: WireCode): Promise<void> {
  const server = await stage.server();
  server.refuseHello = code;
  await stage.open(server);
  const id = await stage.send(freshRows(1));
  await stage.until(server, () => server.hellos > 0);
  server.refuseHello = null;
  await stage.accepted(id);
  await stage.close();
  stage.expectOnce(server);
}

async function studyStops(stage: Stage, state: 'ended' | 'exhausted'): Promise<void> {
  const server = await stage.server();
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(1)));
  server.stop(state);
  const code = state === 'ended' ? 'study-ended' : 'budget-exhausted';
  await stage.ended(code);
}

const rejections: readonly WireCode[] = [
  'wrong-columns', 'not-finite', 'too-many-rows', 'contribution-full', 'mutated', 'stale-epoch',
  'contributor-budget-exhausted', 'wrong-type', 'bad-text', 'quarantined', 'enrolment-expired',
  'study-ended', 'budget-exhausted',
];
const postponements: readonly WireCode[] = [
  'epoch-not-open', 'sequence-too-far', 'credit-exceeded', 'overloaded', 'shutting-down',
  'internal', 'too-many-new-keys',
];
const channelPostponements: readonly WireCode[] =
  ['unknown-channel', 'credit-exceeded', 'overloaded', 'shutting-down', 'internal'];
const channelEndings: readonly WireCode[] =
  ['malformed', 'bad-signature', 'enrolment-expired', 'unknown-study'];
const helloEndings: readonly WireCode[] = [
  'unknown-study', 'invalid-key', 'key-not-allowed', 'bad-signature', 'unsupported', 'quarantined',
  'not-enrolled', 'enrolment-expired',
];
const helloPostponements: readonly WireCode[] =
  ['overloaded', 'rate-limited', 'too-many-channels', 'shutting-down', 'internal'];

/** Cases for each code, in every place where a server may send it. */
export const refusalCases: readonly ConformanceCase[] = [
  ...rejections.map((code) => refusal(`Ack: ${code}`, (stage) => rejected(stage, code))),
  ...postponements.map((code) => refusal(`Ack: ${code}`, (stage) => putOff(stage, code, 'Ack'))),
  ...channelPostponements.map((code) =>
    refusal(`Refusal on a channel: ${code}`, (stage) => putOff(stage, code, 'Refusal'))),
  ...channelEndings.map((code) =>
    refusal(`Refusal on a channel: ${code}`, (stage) => channelEnds(stage, code))),
  ...helloEndings.map((code) =>
    refusal(`Refusal of Hello: ${code}`, (stage) => helloRefused(stage, code))),
  ...helloPostponements.map((code) =>
    refusal(`Refusal of Hello: ${code}`, (stage) => helloPutOff(stage, code))),
  refusal('Notice: the study ended', (stage) => studyStops(stage, 'ended')),
  refusal('Notice: the budget is used up', (stage) => studyStops(stage, 'exhausted')),
];
