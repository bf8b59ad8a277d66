import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recordLines } from '../../scripts/record-lines.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { bodyBytes, commitmentTo, decodeBody, servers } from '../../src/sealed/shares/body.js';
import { combined, packedBytes, packValues, type ShareForm } from '../../src/sealed/shares/form.js';
import { KeyStream } from '../../src/sealed/steps/key-stream.js';
import { Party } from '../../src/sealed/steps/party.js';
import { aesStream } from '../../src/signing/block-cipher.js';
import { signing } from '../../src/signing/node.js';
import {
  sealedVectors, stepCases, wordsOfHex, type SealedVectors,
} from '../support/sealed-vectors.js';
import type { Components } from '../support/sealed-run.js';

const file = (): SealedVectors => JSON.parse(readFileSync(
  fileURLToPath(new URL('sealed-run.json', import.meta.url)), 'utf8')) as SealedVectors;
const wordsOf = (text: string): Uint32Array => Uint32Array.from(text.split(' '), Number);

describe('vectors of sealed runs', () => {
  it('fix the bytes of entries, of every step, and of whole runs of eight contributors', {
    tags: ['long'],
  }, async () => {
    await expect(recordLines(await sealedVectors())).toMatchFileSnapshot('sealed-run.json');
  });

  it('have components that add up to the values, and commitments to them', () => {
    for (const { form, list } of Object.values(file().entries)) {
      const shared: ShareForm = form;
      expect(list).toHaveLength(8);
      for (const { values, components, s0, s1, r, body } of list) {
        const [first, second, third] = components.map(wordsOf);
        expect(combined(combined(first!, second!, shared), third!, shared))
          .toEqual(wordsOf(values));
        const salted = Uint8Array.from([...fromHex(r!), ...packValues(third!, shared)]);
        const bytes = fromHex(body);
        expect(bytes).toHaveLength(bodyBytes([shared]));
        expect(decodeBody(bytes, [shared]).commitments.map(toHex))
          .toEqual([fromHex(s0!), fromHex(s1!), salted].map((content, component) =>
            toHex(commitmentTo(signing, servers[component]!, content))));
      }
    }
  });

  it('have an entry for two questions in one body, whose components add up for each', () => {
    const { forms, list } = file().severalQuestions;
    const bytesOf = forms.map((form) => packedBytes(form));
    expect(bytesOf).toEqual([1, 4]);
    for (const { values, components, body } of list) {
      expect(fromHex(body)).toHaveLength(bodyBytes(forms));
      const parts = components.map(wordsOf);
      let at = 0;
      for (const form of forms) {
        const [first, second, third] = parts.map((own) => own.subarray(at, at + form.count));
        expect(combined(combined(first!, second!, form), third!, form))
          .toEqual(wordsOf(values).subarray(at, at += form.count));
      }
    }
  });

  // The messages of a tally are too long for the file; it is made of the others.
  it.each(Object.keys(stepCases).filter((name) => name !== 'tally'))('give one server all it needs '
    + 'to send its own messages: %s', async (name) => {
    const { streamKeys, start, steps } = file();
    const { x, y = x, result } = steps[name]!;
    const messages = steps[name]!.messages.map((line) => {
      const [, from, to, length, , bytes] = line.split(' ');
      expect(bytes).toHaveLength(2 * Number(length));
      return { from: Number(from), to: Number(to), bytes: bytes! };
    });
    const [left, right] = [x, y].map((list) =>
      list.map(wordsOfHex) as unknown as Components) as [Components, Components];
    for (const server of servers) {
      const sent: string[] = [];
      const waiting = new Map(servers.map((from) => [from, messages
        .filter((each) => each.from === from && each.to === server)
        .map(({ bytes }) => fromHex(bytes))]));
      const streamOf = (component: number): KeyStream =>
        new KeyStream(aesStream(fromHex(streamKeys[component]!)));
      const party = new Party({
        server, own: streamOf(server), next: streamOf((server + 1) % 3), start: fromHex(start),
        sha512: (bytes) => signing.sha512(bytes), proofsOf: null,
        link: {
          send: (to, message) => { sent.push(`${to} ${toHex(message)}`); },
          receive: async (from) => waiting.get(from)!.shift()!,
        },
      });
      await stepCases[name]!.run(party, left, right);
      expect(sent).toEqual(messages.filter(({ from }) => from === server)
        .map(({ to, bytes }) => `${to} ${bytes}`));
      expect(result[server]).toBeDefined();
    }
  });
});
