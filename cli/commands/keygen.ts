import { toHex } from '../../src/base/bytes.js';
import { defineCommand } from '../base/command.js';
import { makeKeyFile } from '../base/keys.js';

const defaultFile = 'contributor.key';

export const keygen = defineCommand({
  name: 'keygen',
  summary: 'Make a contributor key: a file only you can read, and its public half.',
  details: [
    'The file holds the 32 secret bytes in hexadecimal, mode 0600. Who has it can contribute in your name, so keep it '
    + 'secret and keep a copy: a new key is a new contributor. The public key is printed; an aggregator that '
    + 'admits only enrolled contributors needs it, or whoever issues its enrolment tokens.',
  ],
  args: {
    file: { type: 'positional', required: false, description: `where to write the key (default ${defaultFile})` },
  },
  examples: ['keelson keygen alice.key'],
  async run({ args, output }) {
    const path = args.file ?? defaultFile;
    const publicKey = toHex(makeKeyFile(path).publicKey);
    output.text(`wrote ${path}`);
    output.text(`public key ${publicKey}`);
    output.json({ file: path, publicKey });
    return 0;
  },
});
