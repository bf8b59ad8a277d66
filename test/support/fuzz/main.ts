import { parseArgs } from 'node:util';
import { fuzzFrames } from './frames/command.js';

/* eslint-disable no-console -- a command of developers: what it prints is its purpose. */

const usage = `fuzz frames [--frames 1000000] [--seed 1] [--minutes N] [--coverage]
Ends with status 1 at the first promise that is broken, and prints the command that replays it.`;

/** The command behind `npm run fuzz:*`. @returns the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      frames: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' },
      minutes: { type: 'string' }, coverage: { type: 'boolean', default: false }, help: { type: 'boolean' },
    },
  });
  const minutes = values.minutes === undefined ? Infinity : Number(values.minutes);
  const [what] = positionals;
  if (values.help !== true && what === 'frames') {
    return fuzzFrames({ seed: Number(values.seed), frames: Number(values.frames), minutes, coverage: values.coverage });
  }
  console.log(usage);
  return 2;
}
