import { writeSync } from 'node:fs';
import type { Command } from './base/command.js';
import type { Io } from './base/io.js';
import { whileAlive } from '../server/base/clock.js';
import { runCommandLine } from './run.js';

/** 128 + the signal's number, as shells expect. */
const signalStatus = { SIGINT: 130, SIGTERM: 143 } as const;
const interrupt = new AbortController();
let running: Command | undefined;

/**
 * A reader that closed the pipe (`keelson ... | head`) is no failure and needs no message. The
 * command goes on, because its status is that of its outcome: a refusal stays one. Only a command
 * that may run without end, and stops gently at any time, is asked to stop.
 */
function onClosedPipe(): void {
  if (running?.stopsGently === true) interrupt.abort();
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return onClosedPipe();
    if (stream === process.stdout) {
      const why = error.code === 'ENOSPC'
        ? 'the disk is full' : `the system answered ${error.code}`;
      writeSync(
        2, `keelson: standard output cannot be written (${why}): write it to another place\n`,
      );
    }
    process.exit(2);
  });
}

const signals = ['SIGINT', 'SIGTERM'] as const;
let started = false;

function onSignal(signal: typeof signals[number]): void {
  const gently = running?.stopsGently === true
    || (running?.stopsGently === 'once-started' && started);
  if (gently && !interrupt.signal.aborted) interrupt.abort();
  else process.exit(signalStatus[signal]);
}

/**
 * Commands that stop gently need a listener. Without one, a signal ends the process at once, even
 * while it computes or waits for a pipe to open, where `process.exit` would wait too. If the
 * process has number 1, as in a container, the system ignores such a signal.
 */
function listen(on: boolean): void {
  for (const signal of signals) {
    process.off(signal, onSignal);
    if (on || process.pid === 1) process.on(signal, onSignal);
  }
}

listen(true);

const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
  nodeVersion: process.versions.node,
  interrupted: interrupt.signal,
  onStarted: () => {
    started = true;
    listen(true);
  },
  onHangUp: (action) => void process.on('SIGHUP', action),
  // `performance` would load modules of Node that nothing else here needs.
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
};

// Sets the status and does not exit, because bytes in a pipe's buffer must still reach their
// reader.
process.exitCode = await whileAlive(() => runCommandLine(process.argv.slice(2), io, (command) => {
  running = command;
  listen(command.stopsGently === true);
}));
