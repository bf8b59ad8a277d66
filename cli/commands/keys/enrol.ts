import { signing } from '#signing';
import { parseDuration, parseTime } from '../../../server/study-file/durations.js';
import { parseKeyList } from '../../../server/study-file/enrolled-keys.js';
import { fromHex, toHex } from '../../../src/base/bytes.js';
import { isName, nameRule } from '../../../src/base/facts-limits.js';
import { issueEnrolment, type Signer } from '../../../src/signing/index.js';
import { defineCommand } from '../../base/command.js';
import { UsageError } from '../../base/errors.js';
import { makeKeyFile, publicKeyFlag, readKeyFile } from '../../base/keys.js';
import type { Output } from '../../base/output.js';
import { readText } from '../../base/text-files.js';

export const enrol = defineCommand({
  name: 'keys enrol',
  summary: 'Issue enrolment tokens: let keys into studies that admit only those.',
  details: [
    'A study with "admission: { enrolment: { issuer: ... } }" accepts a key only with a token '
    + 'that the issuer signed for it. Make an issuing key once with --new, which prints the line '
    + 'for the study file. The issuing key need not be on the machine of the aggregator, which '
    + 'only needs its public half.',
    'Each token is printed on its own line, after its key. It is not secret: nobody can use it '
    + 'without that key. A person should get only one token, so check who asks for one.',
    'A token cannot be withdrawn before it expires. So let it expire soon and issue a new one, or '
    + 'use a list of keys.',
  ],
  args: {
    issuer: { type: 'positional', required: true, description: 'the issuing key\'s file' },
    new: { type: 'boolean', description: 'make the issuing key: a file only you can read' },
    key: {
      type: 'string', valueHint: 'key',
      description: 'a contributor\'s public key; may be given several times',
    },
    keys: {
      type: 'string', valueHint: 'file', description: 'a file with one public key in each line',
    },
    study: {
      type: 'string', valueHint: 'study',
      description: 'the one study (default: every study with this issuer)',
    },
    expires: {
      type: 'string', valueHint: 'when',
      description: 'after a duration like 90d, or at a time like 2030-01-31 (UTC)',
    },
  },
  repeatable: ['key'],
  examples: [
    'keelson keys enrol issuer.key --new',
    'keelson keys enrol issuer.key --keys members.txt --study survey --expires 90d > tokens.txt',
  ],
  async run({ args, repeated, output }) {
    const nowMs = Date.now();
    const keys = keysOf(repeated['key'] ?? [], args.keys);
    const expiresAtMs = args.expires === undefined ? undefined : expiryOf(args.expires, nowMs);
    if (keys.length > 0 && expiresAtMs === undefined) {
      throw new UsageError('--expires is missing: write --expires=90d');
    }
    if (keys.length === 0 && (expiresAtMs !== undefined || args.study !== undefined)) {
      throw new UsageError('a token is for a key: give --key, or --keys and a file of them');
    }
    if (args.study !== undefined && !isName(args.study)) {
      throw new UsageError(`--study is ${nameRule}`);
    }
    // Makes the key file only after everything else was checked.
    const issuer = args.new === true
      ? makeKeyFile(args.issuer) : signing.createSigner(readKeyFile(args.issuer));
    if (keys.length === 0) return tellIssuer(issuer, args.issuer, args.new === true, output);
    const enrolment = { study: args.study ?? null, expiresAtMs: expiresAtMs! };
    const tokens = keys.map(
      (key) => ({ key, token: toHex(issueEnrolment(issuer, fromHex(key), enrolment, signing)) }),
    );
    output.json({ issuer: toHex(issuer.publicKey), ...enrolment, tokens });
    for (const { key, token } of tokens) output.text(`${key} ${token}`);
    const where = args.study === undefined ? 'every study of this issuer' : args.study;
    output.note(`${tokens.length} for ${where}, until `
      + `${new Date(enrolment.expiresAtMs).toISOString()}`);
    return 0;
  },
});

function tellIssuer(issuer: Signer, file: string, isNew: boolean, output: Output): 0 {
  const publicKey = toHex(issuer.publicKey);
  output.json({ file, issuer: publicKey });
  if (isNew) output.text(`wrote ${file}`);
  output.text(`admission: { enrolment: { issuer: "${publicKey}" } }`);
  return 0;
}

/** Each key once, in the given order. */
function keysOf(flags: readonly string[], file: string | undefined): readonly string[] {
  const typed = flags.map((text) => toHex(publicKeyFlag(text, '--key')));
  const listed = file === undefined ? [] : parseKeyList(readText(file), file);
  return [...new Set([...typed, ...listed])];
}

/** Unix milliseconds. @throws UsageError for a text that is not a time, or not in the future. */
function expiryOf(text: string, nowMs: number): number {
  const lasts = parseDuration(text);
  const atMs = lasts === undefined ? parseTime(text) : nowMs + lasts;
  // A Date cannot hold or print a later time.
  if (Number.isNaN(new Date(atMs).getTime())) {
    throw new UsageError('--expires is a duration like 90d or a time like 2030-01-31 or '
      + `2030-01-31T12:00Z, not "${text}"`);
  }
  if (atMs <= nowMs) throw new UsageError(`--expires ${text} is over already: give a time to come`);
  return Math.ceil(atMs);
}
