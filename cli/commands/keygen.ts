import { chmodSync, closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { signing } from '#signing';
import { toHex } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { defineCommand } from '../command.js';

const defaultFile = 'contributor.key';

export const keygen = defineCommand({
  name: 'keygen',
  summary: 'Make a contributor key: a file only you can read, and its public half.',
  details: [
    'The file holds the 32 secret bytes in hexadecimal, mode 0600. Who has it can contribute in your name, so keep it '
    + 'secret and keep a copy: a new key is a new contributor. The public key is printed; an aggregator that '
    + 'admits only enrolled contributors needs it.',
  ],
  args: {
    file: { type: 'positional', required: false, description: `where to write the key (default ${defaultFile})` },
  },
  examples: ['keelson keygen alice.key'],
  async run({ args, output }) {
    const path = args.file ?? defaultFile;
    const seed = signing.generateSeed();
    const publicKey = toHex(signing.createSigner(seed).publicKey);
    writeSecret(path, `${toHex(seed)}\n`);
    output.text(`wrote ${path}`);
    output.text(`public key ${publicKey}`);
    output.json({ file: path, publicKey });
    return 0;
  },
});

/** Creates the file with mode 0600 in one step, so that nobody can read it in between. */
function writeSecret(path: string, text: string): void {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new InvalidInputError(
      `${path} exists and is not overwritten: name another file, or move this one away`,
      { path },
    );
  }
  try {
    // The umask can only narrow the mode asked for; this restores the owner's own access.
    chmodSync(path, 0o600);
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
