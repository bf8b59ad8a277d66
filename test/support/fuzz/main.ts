import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fuzzFiles } from './files/command.js';
import { fuzzFrames } from './frames/command.js';
import { Bench } from './frames/corpus.js';
import { fuzzRequests } from './uploads/command.js';

/* eslint-disable no-console -- a command of developers: what it prints is its purpose. */

const usage = `fuzz frames [--frames 1000000] [--seed 1] [--minutes N] [--coverage]
fuzz frames --collect FILE                                     writes test/fuzz/corpus/frames.json anew
fuzz uploads [--requests 10000] [--seed 1] [--minutes N]
fuzz files [--files 100000] [--seed 1] [--minutes N] [--coverage]
Ends with status 1 at the first promise that is broken, and prints the command that replays it.`;

/** The command behind `npm run fuzz:*`. @returns the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      frames: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' },
      files: { type: 'string', default: '100000' },
      requests: { type: 'string', default: '10000' },
      minutes: { type: 'string' }, coverage: { type: 'boolean', default: false },
      collect: { type: 'string' }, help: { type: 'boolean' },
    },
  });
  const minutes = values.minutes === undefined ? Infinity : Number(values.minutes);
  const [what] = positionals;
  const { coverage } = values;
  const seed = Number(values.seed);
  if (what === 'frames' && values.collect !== undefined) {
    const bench = await Bench.open();
    const lines = (await bench.collect(12)).map((frame) => JSON.stringify(frame));
    writeFileSync(values.collect, `[\n${lines.join(',\n')}\n]\n`);
    await bench.close();
    return 0;
  }
  if (values.help !== true && what === 'frames') {
    return fuzzFrames({ seed, frames: Number(values.frames), minutes, coverage });
  }
  if (values.help !== true && what === 'uploads') {
    return fuzzRequests({ seed, requests: Number(values.requests), minutes });
  }
  if (values.help !== true && what === 'files') {
    return fuzzFiles({ seed, files: Number(values.files), minutes, coverage, root: process.cwd() });
  }
  console.log(usage);
  return 2;
}
