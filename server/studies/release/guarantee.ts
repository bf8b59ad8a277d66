import type { StudyDefinition } from '../definition.js';

/**
 * The promise of the ledger's position in a release, and the readers that it holds against, in
 * words for a reader of the release. It uses public facts only, so it is the same in every release
 * of a study.
 */
export function guaranteeOf({ document, budget }: StudyDefinition): string {
  const { epsilon, delta, rule, windowMs } = { ...budget, rule: budget.rule.rule };
  const level = rule === 'pure' ? `epsilon ${epsilon}` : `epsilon ${epsilon} at delta ${delta}`;
  const releases = budget.scope === 'population'
    ? `all releases of all studies of the population ${document.budget.population ?? ''}`
    : 'all releases of this study';
  const period = windowMs === undefined
    ? ''
    : ` charged within any period of ${durationText(windowMs)} (by the server's clock; losses of `
      + 'different periods add up)';
  return `${releases}${period} together lose a contributor at most ${level}, for two data sets `
    + `that differ in ${differenceOf(document.participation, budget.scope)}`
    + (document.sealed === undefined ? '' : againstReading);
}

/** The promise of a sealed study beyond the one about its readers. */
const againstReading = '. The same holds against whoever reads everything of one of the study\'s '
  + 'three servers, except for who took part. Nothing is promised against two of the servers '
  + 'together, nor against a server that runs changed code';

function differenceOf(
  participation: 'secret' | 'public', scope: StudyDefinition['budget']['scope'],
): string {
  if (participation === 'public') {
    return 'the values that one contributor sent; that it took part, and in which epochs, is '
      + 'public and not protected';
  }
  if (scope !== 'contributor') {
    return 'everything that one contributor sent, in any epochs, replaced by anything, including '
      + 'nothing';
  }
  return 'one contributor: absent from all epochs, or with other values in the same epochs; which '
    + 'of its epochs a contributor took part in is not hidden beyond that, and epochs past its own '
    + 'budget leave it out';
}

/** `30 days`, `90 minutes`: the largest unit with a whole number. */
export function durationText(milliseconds: number): string {
  const units = [
    ['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1_000],
  ] as const;
  const [name, size] = units.find(([, unit]) => milliseconds % unit === 0) ?? ['millisecond', 1];
  const count = milliseconds / size;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
