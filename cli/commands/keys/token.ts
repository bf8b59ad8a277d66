import { createContributor, publicKeyOf } from '../../../client/index.js';
import { requestToken, type BlindToken } from '../../../client/tokens.js';
import { readSecret } from '../../../server/base/secret-files.js';
import { toHex } from '../../../src/base/bytes.js';
import { aggregatorArgument, aggregatorUrl, serverKeyArgument } from '../../base/address.js';
import { defineCommand } from '../../base/command.js';
import { publicKeyFlag, readKeyFile } from '../../base/keys.js';

export const token = defineCommand({
  name: 'keys token',
  summary: 'Get a blind token for a key, to contribute with any client.',
  details: [
    'A study that admits by blind tokens takes a key with a token for the present period. The '
    + 'command reads the study\'s facts from the aggregator, and asks the issuer for the token. It '
    + 'prints the key and the token, for "keelson contribute --enrolment", and for the clients in '
    + 'Python and Go. It connects to the aggregator without telling it the key.',
    'The issuer gives one token in a period. The same key gets the same token again, so nothing '
    + 'is lost when the command is interrupted. If you contribute at another time than you get the '
    + 'token, the two are harder to link.',
  ],
  args: {
    url: aggregatorArgument,
    study: {
      type: 'string', required: true, valueHint: 'study', description: 'name or id of the study',
    },
    key: {
      type: 'string', required: true, valueHint: 'file',
      description: 'key file that "keelson keys new" wrote',
    },
    issuer: {
      type: 'string', required: true, valueHint: 'url',
      description: 'the issuer, like https://tokens.example.org',
    },
    'code-file': {
      type: 'string', required: true, valueHint: 'file',
      description: 'file with your code for the issuer, that only you can read',
    },
    'server-key': serverKeyArgument,
  },
  examples: [
    'keelson keys token ws://127.0.0.1:8787 --study survey --key alice.key --issuer '
      + 'https://tokens.example.org --code-file alice.code > alice.token',
  ],
  async run({ args, output, io }) {
    const seed = readKeyFile(args.key);
    const code = readSecret(args['code-file']);
    const serverKey = args['server-key'] === undefined
      ? undefined : publicKeyFlag(args['server-key'], '--server-key');
    const { enrolment, fromMs, untilMs } = await new Promise<BlindToken>((resolve, reject) => {
      const contributor = createContributor({
        url: aggregatorUrl(args.url), study: args.study, seed, signal: io.interrupted,
        ...(serverKey !== undefined && { serverKey }),
        enrolment: async (study) => {
          const asked = requestToken({ issuer: args.issuer, code, seed, study });
          asked.then(resolve, reject);
          // The token is all that is wanted: no Hello follows.
          asked.finally(() => contributor.abort()).catch(() => undefined);
          return (await asked).enrolment;
        },
      });
      contributor.study().catch(reject);
    });
    const key = toHex(await publicKeyOf(seed));
    output.json({ key, token: enrolment, fromMs, untilMs });
    output.text(`${key} ${enrolment}`);
    output.note(`a token until ${new Date(untilMs).toISOString()}`);
    return 0;
  },
});
