import { toHex } from '../../../src/base/bytes.js';
import { defineCommand } from '../../base/command.js';
import { makeKeyFile } from '../../base/keys.js';

const defaultFile = 'contributor.key';

export const newKey = defineCommand({
  name: 'keys new',
  summary: 'Make a contributor key: a file only you can read, and its public half.',
  details: [
    'The file holds the 32 secret bytes in hexadecimal, mode 0600. Everybody who has it can '
    + 'contribute in your name, so keep it secret. Keep a copy too: with a new key you are a new '
    + 'contributor. The command prints the public key. If a study admits only enrolled '
    + 'contributors, its operator needs that key, or the issuer of its enrolment tokens.',
  ],
  args: {
    file: {
      type: 'positional', required: false,
      description: `where to write the key (default ${defaultFile})`,
    },
  },
  examples: ['keelson keys new alice.key'],
  async run({ args, output }) {
    const path = args.file ?? defaultFile;
    const publicKey = toHex(makeKeyFile(path).publicKey);
    output.text(`wrote ${path}`);
    output.text(`public key ${publicKey}`);
    output.json({ file: path, publicKey });
    return 0;
  },
});
