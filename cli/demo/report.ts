import { formatNumber, type Output } from '../output.js';
import type { Score, StudySummary } from './scoreboard.js';

/** Prints the demonstration's releases as they come. */
export interface DemoReport {
  release(score: Score): void;
  summary(summaries: readonly StudySummary[], facts: Readonly<Record<string, unknown>>): void;
}

const widths = { epoch: 5, study: 17, estimate: 19, truth: 17, error: 7 } as const;

/** @param columns Names for people; estimates are shown in their order. */
export function createReport(output: Output): DemoReport {
  let headShown = false;
  const head = (): void => {
    if (headShown) return;
    headShown = true;
    output.text();
    output.text(line('epoch', 'study', 'release', 'honest mean', 'error', 'naive', 'epsilon'));
    output.text(line('', '', '', '', 'scales', 'scales', 'spent / left'));
    output.text('-'.repeat(88));
  };
  return {
    release(score) {
      output.jsonLine({ type: 'release', ...score });
      head();
      const shown = score.estimate === null ? `refused: ${score.reason ?? ''}` : vector(score.estimate);
      output.text(line(
        String(score.epoch), score.study, shown, vector(score.truth),
        score.error === null ? '-' : score.error.toFixed(3), score.naiveError.toFixed(3),
        `${score.epsilonSpent.toFixed(2)} / ${score.epsilonLeft.toFixed(2)}`,
      ));
    },
    summary(summaries, facts) {
      output.jsonLine({ type: 'summary', studies: summaries, ...facts });
      output.text('-'.repeat(88));
      for (const summary of summaries) {
        const { study, medianError, medianNaiveError, alwaysCloser, refused } = summary;
        output.text(`${study.padEnd(widths.study)} median error ${medianError === null ? '-' : formatNumber(Number(medianError.toFixed(3)))} scales, `
          + `naive mean ${medianNaiveError.toFixed(3)}: ${verdict(alwaysCloser, refused)}`);
      }
    },
  };
}

function verdict(alwaysCloser: boolean, refused: number): string {
  if (refused > 0) return `${refused} refused`;
  return alwaysCloser ? 'closer to the truth in every epoch' : 'not closer in every epoch';
}

function vector(values: readonly number[]): string {
  return values.map((value) => value.toFixed(Math.abs(value) < 100 ? 2 : 1)).join(', ');
}

function line(epoch: string, study: string, release: string, truth: string, error: string, naive: string, epsilon: string): string {
  return [
    epoch.padStart(widths.epoch), study.padEnd(widths.study), release.padEnd(widths.estimate), truth.padEnd(widths.truth),
    error.padStart(widths.error), naive.padStart(widths.error), ` ${epsilon}`,
  ].join(' ').trimEnd();
}
