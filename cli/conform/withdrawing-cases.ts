import { expect } from './fault.js';
import { freshRows, type ConformanceCase, type Stage } from './stage.js';

const withdrawing = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ name, needs: 'withdraw', run });

/** The scripted server calls a Withdraw a fault that comes before the answers to all batches. */
async function afterAnswers(stage: Stage): Promise<void> {
  const server = await stage.server();
  await stage.open(server);
  const id = await stage.send(freshRows(40), true);
  await stage.withdraw(7);
  expect(server.withdrawn.has(7n), 'the withdrawal was reported and never asked for');
  expect(server.taken.length > 1, 'the rows were not sent before the withdrawal');
  await stage.accepted(id);
  await stage.close();
}

async function overCut(stage: Stage): Promise<void> {
  const server = await stage.server();
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(1)));
  server.cutAt = 'withdrawal';
  (await stage.program()).say({ do: 'withdraw' });
  await stage.until(server, () => server.asked.length > 0);
  server.epoch = 8n;
  await stage.withdrawn(7);
  await stage.close();
  expect(server.asked.join() === '7,7', `after the cut epoch ${server.asked[1]} was asked for: `
    + 'a withdrawal is repeated for the same epoch');
}

async function tooLate(stage: Stage): Promise<void> {
  const server = await stage.server();
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(1)));
  server.refuseWithdrawals = ['too-late'];
  (await stage.program()).say({ do: 'withdraw' });
  const { code } = await stage.event(({ event }) => event === 'withdrawn' || event === 'ended');
  expect(code === 'too-late', `the withdrawal ended with ${code}, not too-late`);
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
}

async function putOff(stage: Stage): Promise<void> {
  const server = await stage.server();
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(1)));
  server.refuseWithdrawals = ['overloaded', 'internal'];
  await stage.withdraw(7);
  await stage.close();
  expect(server.asked.join() === '7,7,7', 'it is asked again after each retryable refusal');
}

async function noEpoch(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.epoch = 0n;
  await stage.open(server);
  (await stage.program()).say({ do: 'withdraw' });
  await stage.until(server, () => server.hellos > 0);
  await stage.ping();
  server.openEpoch(9n);
  await stage.withdrawn(9);
  await stage.close();
}

/** Cases of a client that takes back its rows. */
export const withdrawingCases: readonly ConformanceCase[] = [
  withdrawing('a withdrawal after rows', afterAnswers),
  withdrawing('a withdrawal is cut off', overCut),
  withdrawing('a withdrawal that is too late', tooLate),
  withdrawing('a withdrawal that the server puts off', putOff),
  withdrawing('a withdrawal while no epoch is open', noEpoch),
];
