import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
const held: Socket[] = [];
afterEach(async () => {
  for (const socket of held) socket.destroy();
  await stage.end();
});

const limited = spawnSync('prlimit', ['--version']).status === 0;

describe.skipIf(!limited)(
  `few descriptors${limited ? '' : ' (skipped: there is no prlimit here)'}`, () => {
    it('cannot be used up by strangers: the server still serves others', async () => {
      const study =
        stage.write('small.yaml', meanStudy('small', { cohort: '2000', epoch: '{ every: 1s }' }));
      const descriptors = 1_024;
      const { command, port, address } = await stage.serve([study], { descriptors });
      const { pid } = command.child;
      expect(command.stderr).toContain('the limit on open files');
      const connect = async (localAddress: string): Promise<void> => {
        // One after the other: a listen queue that overflows would look like a server that does not
        // answer.
        const socket = createConnection({ port, host: '127.0.0.1', localAddress })
          .on('error', () => undefined).resume();
        held.push(socket);
        await once(socket, 'connect');
      };
      for (let i = 0; i < 1_100; i++) await connect('127.0.0.2');
      expect(readdirSync(`/proc/${pid}/fd`).length).toBeLessThan(descriptors - 256);
      expect((await fetch(`${address}/healthz`)).status).toBe(200);
      expect((await command.interrupt()).status).toBe(0);
    });
  },
);
