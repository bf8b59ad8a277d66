import * as v from 'valibot';
import { sealedLimits as limits } from '../../src/base/sealed-limits.js';
import { duration, key, name, ruled, whole } from './schema-parts.js';

const { bits, patienceMs } = limits;

const againstRule = 'reading: whoever reads all that one server holds and receives. There is no '
  + 'promise yet against a server that runs changed code, so cheating is refused';
const against = ruled(againstRule, v.literal('reading', againstRule));

const pairRule = 'a list of two numbers, the lower one first';
const end = v.pipe(v.number(pairRule), v.finite(pairRule));
const rangeRule = 'for each column a list of two numbers, the lower one first, like [[0, 512]]';
const range = ruled(rangeRule, v.pipe(
  v.array(v.pipe(
    v.tuple([end, end], pairRule), v.check(([low, high]) => low < high, pairRule),
  ), rangeRule),
  v.minLength(1, rangeRule), v.maxLength(limits.columns, rangeRule),
));

const keyRule = 'the public key of the server, 64 hexadecimal digits, in quotes';
const publicKey = ruled(keyRule, v.pipe(
  v.string(keyRule), v.regex(/^[0-9a-fA-F]{64}$/, keyRule), v.transform((text) =>
    text.toLowerCase()),
));
const urlRule = 'an address that begins with wss://, or with ws:// on this machine';
const url = ruled(urlRule, v.pipe(
  v.string(urlRule), v.regex(/^wss?:\/\/[\x21-\x7e]{1,250}$/, urlRule),
));
const serverRule = 'name, url and key of a server';
const server = ruled(serverRule, v.strictObject({
  name: key(name, 'The name of the server. "keelson serve --as NAME" runs its part.', 'north'),
  url: key(url, 'Where the other two servers reach it.', 'wss://north.example'),
  key: key(publicKey, 'Its public key. "keelson keys server --data DIR" prints it. It is a fact of '
    + 'the study: another server is another study.', '0'.repeat(64)),
}, serverRule));
const serversRule = 'a list of three servers of three operators';
const servers = ruled(serversRule, v.pipe(
  v.array(server, serversRule), v.length(3, serversRule),
));

const sealedRule = 'against: reading, servers: three of them, and range: for a mean';
/** The part of a study file that makes its rows sealed. */
export const sealed = ruled(sealedRule, v.strictObject({
  against: key(against, 'Against whom rows are protected. reading: whoever reads everything of one '
    + 'server. Two servers together have the rows.', 'reading'),
  bits: key(v.optional(whole(bits.least, bits.most), bits.usual),
    'Bits of each number of a row. More bits make a finer grid.', bits.usual),
  range: key(v.optional(range), 'For each column the range that values lie in. Values outside '
    + 'count as at its ends.', [[0, 512], [0, 256]],
    'low and high of the columns, which a mean needs'),
  servers: key(servers, 'The three servers. Contributors and readers connect to the first.', [
    { name: 'north', url: 'wss://north.example', key: '0'.repeat(64) },
    { name: 'east', url: 'wss://east.example', key: '1'.repeat(64) },
    { name: 'west', url: 'wss://west.example', key: '2'.repeat(64) },
  ]),
  patience: key(
    v.optional(duration(patienceMs.least, '1s', patienceMs.most, '30d'), '1h'),
    'How long after its close an epoch waits for all three servers. Then it lapses, and nothing '
    + 'is charged.', '1h'),
}, sealedRule));

/** A valid value, for the reference. */
export const exampleSealed = {
  against: 'reading', range: [[0, 512], [0, 256]], servers: [
    { name: 'north', url: 'wss://north.example', key: '0'.repeat(64) },
    { name: 'east', url: 'wss://east.example', key: '1'.repeat(64) },
    { name: 'west', url: 'wss://west.example', key: '2'.repeat(64) },
  ],
};
