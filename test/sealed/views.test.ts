import { describe, expect, it } from 'vitest';
import type { ServerIndex } from '../../src/sealed/shares/body.js';
import { bits, componentSum } from '../../src/sealed/steps/adder.js';
import { number } from '../../src/sealed/steps/convert.js';
import { and, dot, product } from '../../src/sealed/steps/multiply.js';
import { oneHot } from '../../src/sealed/steps/tally.js';
import { eachComponent, parts } from '../../src/sealed/steps/shares.js';
import { doubled } from '../../src/sealed/steps/words.js';
import { bitsAt, dotsOf, numbersAt, openedSum } from '../support/sealed-run.js';
import {
  tellingNumbers, tellingViews, type Enumeration, type NumberStep, type StreamPlace,
} from '../support/sealed-views.js';

const everyStream = (step: number, blocks = 1): readonly StreamPlace[] =>
  ([0, 1, 2] as const).map((component) => ({ step, component, blocks }));

/** Each step that sends bits, with all values of all inputs and all bits of streams. */
const bitSteps: Readonly<Record<string, Enumeration>> = {
  'and': {
    below: 2, inputs: ['bits', 'bits'], streams: everyStream(1),
    run: (party, [x, y]) => and(party, bitsAt(party.server, x!), bitsAt(party.server, y!)),
  },
  'lowest bit of numbers': {
    below: 8, inputs: ['numbers'], streams: [...everyStream(1, 2), ...everyStream(2)],
    // 2^59 is a quarter, so that the step adds up what is enumerated.
    run: (party, [x]) => bits(party, eachComponent(
      numbersAt(party.server, x!), (component) => doubled(doubled(doubled(component, 28), 28), 3),
    ), { from: 0, end: 1 }),
  },
  'sum of components of two bits': {
    below: 4, inputs: ['numbers'], streams: [...everyStream(1, 2), ...everyStream(2)],
    run: (party, [x]) =>
      componentSum(party, numbersAt(party.server, x!), { from: 1, width: 2 }),
  },
  'one-hot of one bit': {
    below: 2, inputs: ['bits', 'bits'], streams: everyStream(1),
    run: (party, [b, mask]) => {
      const plane = b![0].length;
      return oneHot(
        party, parts(bitsAt(party.server, b!), plane, 1), bitsAt(party.server, mask!), plane,
      );
    },
  },
};

/** Each step that sends numbers. */
const numberSteps: Readonly<Record<string, NumberStep>> = {
  'product': {
    inputs: ['numbers', 'numbers'], size: 3,
    run: (party, [x, y]) =>
      product(party, numbersAt(party.server, x!), numbersAt(party.server, y!)),
  },
  'dot of two terms': {
    inputs: ['numbers', 'numbers'], size: 6,
    run: (party, [x, y]) => dot(
      party, numbersAt(party.server, x!), numbersAt(party.server, y!),
      dotsOf(3, 2, (sum, term) => 2 * sum + term, (sum, term) => sum + 3 * term),
    ),
  },
  'number': {
    inputs: ['bits'], size: 1, run: (party, [b]) => number(party, bitsAt(party.server, b!)),
  },
  'open': {
    inputs: ['numbers'], size: 3, isOpening: true,
    run: (party, [u]) => openedSum(party, u![party.server].slice()),
  },
};

describe('what a server receives', () => {
  it.each(Object.entries(bitSteps))('tells it nothing that it does not hold: %s', {
    tags: ['long'],
  }, async (_, step) => {
    expect(await tellingViews(step)).toEqual([]);
  });

  it.each(Object.entries(numberSteps))('is masked, number by number: %s', {
    tags: ['long'],
  }, async (_, step) => {
    expect(await tellingNumbers(step)).toEqual([]);
  });

  it.each<[string, readonly ServerIndex[]]>([
    ['and', [0, 1, 2]], ['lowest bit of numbers', [0, 1, 2]],
  ])('tells it more when no bit is masked: %s', async (name, who) => {
    expect(await tellingViews({ ...bitSteps[name]!, isUnmasked: true })).toEqual(who);
  });

  it.each<[string, readonly ServerIndex[]]>([
    ['product', [0, 1, 2]], ['dot of two terms', [0, 1, 2]], ['number', [0, 1]],
    ['open', [0, 1, 2]],
  ])('is seen when no number is masked: %s', async (name, who) => {
    expect(await tellingNumbers({ ...numberSteps[name]!, isUnmasked: true })).toEqual(who);
  });

  it('is seen when one block masks two numbers', async () => {
    const twice: NumberStep = {
      inputs: ['numbers', 'numbers'], size: 2,
      run: (party, [x, y]) => {
        // Both products are of one step: the second one has the blocks of the first.
        party.begin();
        const streams = [party.ownNumbers(1), party.nextNumbers(1)] as const;
        Object.assign(party, {
          begin: () => undefined,
          ownNumbers: () => Uint32Array.from([...streams[0], ...streams[0]]),
          nextNumbers: () => Uint32Array.from([...streams[1], ...streams[1]]),
        });
        return product(party, numbersAt(party.server, x!), numbersAt(party.server, y!));
      },
    };
    expect(await tellingNumbers(twice)).toEqual([0, 1, 2]);
  });
});
