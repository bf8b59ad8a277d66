import { describe, expect, it } from 'vitest';
import { Sealed } from '../../src/base/brands.js';
import type { ServerIndex } from '../../src/sealed/shares/body.js';
import { bits } from '../../src/sealed/steps/adder.js';
import { from0, number } from '../../src/sealed/steps/convert.js';
import { and, dot, product } from '../../src/sealed/steps/multiply.js';
import { openSum } from '../../src/sealed/steps/open.js';
import { oneHot } from '../../src/sealed/steps/tally.js';
import { parts } from '../../src/sealed/steps/shares.js';
import { addInto } from '../../src/sealed/steps/words.js';
import { bitsAt, numbersAt } from '../support/sealed-run.js';
import { tellingViews, type Enumeration, type StreamPlace } from '../support/sealed-views.js';

const everyStream = (
  step: number, kind: 'numbers' | 'bits', blocks = 1,
): readonly StreamPlace[] => ([0, 1, 2] as const).map((component) =>
  ({ step, component, kind, blocks }));
const streamOf0 = (kind: 'numbers' | 'bits', blocks = 1): StreamPlace =>
  ({ step: 1, component: 0, kind, blocks });

const words = (list: Uint32Array): number => list.length;

/** Each step over tiny rings, with all values of all inputs and all blocks. */
const steps: Readonly<Record<string, Enumeration>> = {
  'and': {
    ring: 2, inputs: ['bits', 'bits'], streams: everyStream(1, 'bits'), messages: { 1: 'bits' },
    run: (party, [x, y]) => and(party, bitsAt(party.server, x!), bitsAt(party.server, y!)),
  },
  'product modulo 4': {
    ring: 4, inputs: ['numbers', 'numbers'], streams: everyStream(1, 'numbers'),
    messages: { 1: 'numbers' },
    run: (party, [x, y]) =>
      product(party, numbersAt(party.server, x!), numbersAt(party.server, y!)),
  },
  'dot of two terms modulo 2': {
    ring: 2, inputs: ['numbers', 'numbers', 'numbers'], streams: everyStream(1, 'numbers'),
    messages: { 1: 'numbers' },
    // Each lane's sum is x y + x z: the lists are x, x and y, z.
    run: async (party, [x, y, z]) => {
      const lanes = words(x![0]) / 2;
      const pair = (left: typeof x, right: typeof x) => ([0, 1, 2] as const).map((component) =>
        Uint32Array.from([...left![component], ...right![component]])) as unknown as typeof x;
      return dot(party, numbersAt(party.server, x!), numbersAt(party.server, pair(y, z)!), {
        count: lanes, terms: 2, left: (lane) => lane, right: (lane, term) => term * lanes + lane,
      });
    },
  },
  'from0 of numbers modulo 4': {
    ring: 4, inputs: ['numbers'], streams: [streamOf0('numbers')], messages: { 1: 'numbers' },
    run: (party, [x]) => {
      const known = x![0].slice();
      addInto(known, x![1]);
      return from0(
        party, 'numbers', words(known), party.server === 0 ? Sealed.of(known) : null,
      );
    },
  },
  'number modulo 4': {
    ring: 4, inputs: ['bits'], messages: { 1: 'numbers', 2: 'numbers' },
    streams: [streamOf0('numbers'), { step: 2, component: 2, kind: 'numbers', blocks: 2 }],
    run: (party, [b]) => number(party, bitsAt(party.server, b!)),
  },
  'number modulo 8': {
    ring: 8, inputs: ['bits'], messages: { 1: 'numbers', 2: 'numbers' },
    streams: [streamOf0('numbers'), { step: 2, component: 2, kind: 'numbers', blocks: 2 }],
    run: (party, [b]) => number(party, bitsAt(party.server, b!)),
  },
  'bits of numbers modulo 4': {
    ring: 4, inputs: ['numbers'], messages: { 1: 'bits', 2: 'bits' },
    streams: [streamOf0('bits', 2), ...everyStream(2, 'bits')],
    run: (party, [x]) => bits(party, numbersAt(party.server, x!), { from: 0, end: 2 }),
  },
  'one-hot of one bit': {
    ring: 2, inputs: ['bits', 'bits'], streams: everyStream(1, 'bits'), messages: { 1: 'bits' },
    run: (party, [b, mask]) => {
      const plane = words(b![0]);
      return oneHot(
        party, parts(bitsAt(party.server, b!), plane, 1), bitsAt(party.server, mask!), plane,
      );
    },
  },
  'open modulo 4': {
    ring: 4, inputs: ['numbers'], isAlone: true, streams: everyStream(1, 'numbers'),
    messages: { 1: 'numbers' },
    run: (party, [u]) => openSum(party, u![party.server]),
    opened: ([components]) => components!.reduce((sum, value) => sum + value, 0) % 4,
  },
};

describe('what a server receives', () => {
  it.each(Object.entries(steps))('tells it nothing that it does not hold: %s', {
    tags: ['long'],
  }, async (_, step) => {
    expect(await tellingViews(step)).toEqual([]);
  });

  it.each<[string, readonly ServerIndex[]]>([
    ['and', [0, 1, 2]], ['dot of two terms modulo 2', [0, 1, 2]],
    ['from0 of numbers modulo 4', [1]], ['number modulo 4', [0, 1]], ['open modulo 4', [0, 1, 2]],
  ])('tells it more when nothing is masked: %s', async (name, who) => {
    expect(await tellingViews({ ...steps[name]!, isUnmasked: true })).toEqual(who);
  });
});
