import { join } from 'node:path';
import { contributingCases } from './contributing-cases.js';
import { aggregatorCases } from './aggregator-cases.js';
import { encryptedCases } from './encrypted-cases.js';
import { meddledCases } from './meddled-cases.js';
import { onceCases } from './once-cases.js';
import { readingCases } from './reading-cases.js';
import { sealedCases } from './sealed-cases.js';
import { refusalCases } from './refusals-cases.js';
import { trustCases } from './trust-cases.js';
import { verifyingCases } from './verifying-cases.js';
import { withdrawingCases } from './withdrawing-cases.js';
import { ConformanceFault, expect } from './fault.js';
import { Program, type ProgramEvent } from './program.js';
import { Stage, type ConformanceCase } from './stage.js';

export const conformanceCases: readonly ConformanceCase[] = [
  ...trustCases, ...contributingCases, ...sealedCases, ...refusalCases, ...onceCases,
  ...withdrawingCases, ...readingCases, ...verifyingCases, ...aggregatorCases,
  ...encryptedCases, ...meddledCases,
];

/** `left-out`: the program lacks the skill. */
export interface CaseResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'left-out';
  /** The fault, or the skill that the program lacks. */
  readonly text?: string;
}

export interface ConformanceOptions {
  /** The client program and its arguments. */
  readonly words: readonly string[];
  /** A folder that exists and is empty. */
  readonly folder: string;
  /** The time limit of a case, in milliseconds. A slower case fails. */
  readonly limitMs: number;
  readonly cases?: readonly ConformanceCase[];
  readonly onResult?: (result: CaseResult) => void;
}

/** Cases that run at once: they wait most of the time. */
const atOnce = 4;

/**
 * Tries a client program on every case.
 * @returns the results in the order of the cases.
 */
export async function runConformance(options: ConformanceOptions): Promise<CaseResult[]> {
  const { cases = conformanceCases, onResult = () => undefined } = options;
  const results: CaseResult[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < cases.length) {
      const place = next++;
      const result = await runCase(cases[place]!, place, options);
      results[place] = result;
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

/** The case is for a skill that the program does not have; the text says which. */
class LeftOut extends Error {}

async function runCase(
  tried: ConformanceCase, place: number, options: ConformanceOptions,
): Promise<CaseResult> {
  const { name, needs, isEncrypted = false } = tried;
  const start = async (onEvent: (event: ProgramEvent) => void): Promise<Program> => {
    const program = new Program(options.words, onEvent);
    const { can } = await program.event(({ event }) => event === 'hello');
    expect(Array.isArray(can), 'an event "hello" has no list "can"');
    const lacking = [needs, ...(isEncrypted ? ['encrypt'] : [])].find((one) => !can.includes(one));
    if (lacking !== undefined) {
      await program.kill();
      throw new LeftOut(`the program does not list ${lacking} in "can"`);
    }
    return program;
  };
  const stage = new Stage(join(options.folder, String(place)), start, isEncrypted);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const text = `nothing more happened within ${options.limitMs / 1_000} s`;
    timer = setTimeout(() => reject(new ConformanceFault(text)), options.limitMs);
  });
  try {
    await Promise.race([stage.noticed, tried.run(stage), late]);
    return { name, outcome: 'passed' };
  } catch (error) {
    if (error instanceof LeftOut) {
      return { name, outcome: 'left-out', text: error.message };
    }
    if (error instanceof ConformanceFault) return { name, outcome: 'failed', text: error.message };
    throw error;
  } finally {
    clearTimeout(timer);
    await stage.end();
  }
}
