import type { Command } from './command.js';
import type { Io } from './io.js';
import { runCommandLine } from './run.js';

/** 128 + the signal's number, as shells expect. */
const signalStatus = { SIGINT: 130, SIGTERM: 143 } as const;
const interrupt = new AbortController();
let running: Command | undefined;

// A reader that went away (`keelson ... | head`) is no failure and needs no message.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 2);
  });
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (running?.stopsGently === true && !interrupt.signal.aborted) interrupt.abort();
    else process.exit(signalStatus[signal]);
  });
}

const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
  interrupted: interrupt.signal,
  onHangUp: (action) => void process.on('SIGHUP', action),
  monotonicMs: () => performance.now(),
};

// The status is set, not exited with: what is still in a pipe's buffer must reach its reader.
process.exitCode = await runCommandLine(process.argv.slice(2), io, (command) => {
  running = command;
});
