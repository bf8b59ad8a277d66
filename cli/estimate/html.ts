import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, rmSync, writeFileSync } from 'node:fs';
import { escaped, svgOf, type Mark } from '../../src/answers/drawing.js';
import { shownInterval } from '../../src/answers/intervals.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { ifFalseText } from '../../src/base/findings.js';
import type { Interval95 } from '../../src/base/outcome.js';
import type { PrivacyStatement } from '../../src/privacy-statement.js';
import { intervalText, type AnswerContext } from '../base/answers.js';
import { asInputError } from '../base/errors.js';
import { formatNumber, lineText, numberText } from '../base/output.js';

/** One answer on the page. */
export interface PageAnswer extends Pick<AnswerContext, 'parameters' | 'texts'> {
  readonly heading: string;
  /** Why there is no answer; null where there is one. */
  readonly refusal: string | null;
  /** The name of each number. */
  readonly names: readonly string[];
  readonly estimate: readonly number[];
  readonly interval95?: Interval95;
  readonly intervalIfFalse95?: Interval95;
  /** All numbers are in one unit, so that one picture can show them. */
  readonly isOneUnit: boolean;
  /** Sentences to read before one relies on it. */
  readonly notes: readonly string[];
}

/** A page about the answers of one run. It has public and released facts only. */
export interface AnswerPage {
  readonly title: string;
  readonly answers: readonly PageAnswer[];
  /** Null where nothing was charged. */
  readonly privacy: PrivacyStatement | null;
  /** Sentences about what the promise takes for public. */
  readonly notes: readonly string[];
}

/** More numbers are in the table only: a picture has no room for their names. */
const picturedMost = 40;

/** Colours of the dashboard: `dashboard/shell.css` has the same. */
export const pageColours: Readonly<Record<string, string>> = {
  ink: 'light-dark(#15202b, #e6ecf2)', quiet: 'light-dark(#526170, #9dabb9)',
  paper: 'light-dark(#f4f6f8, #0d1217)', card: 'light-dark(#ffffff, #151c24)',
  line: 'light-dark(#dde3e9, #2a3541)', accent: 'light-dark(#0b5a8f, #6bb8f0)',
};

const style = `:root { color-scheme: light dark; ${Object.entries(pageColours)
  .map(([name, colour]) => `--${name}: ${colour};`).join(' ')}
  font: 400 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; color: var(--ink);
  background: var(--paper); }
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem clamp(1rem, 3vw, 2rem) 3rem; }
h1 { font-size: 1.625rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.0625rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  padding: 1.125rem 1.25rem; margin: 0 0 1.25rem; }
.lead { font-size: 1.75rem; font-weight: 650; margin: 0; }
.quiet { color: var(--quiet); }
p { margin: .5rem 0 0; }
svg { display: block; width: 100%; height: auto; margin-top: .75rem; }
.scroll { overflow-x: auto; margin-top: .75rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .375rem .75rem .375rem 0; border-top: 1px solid var(--line);
  font-weight: 400; }
thead th { border: 0; color: var(--quiet); }
@media print { :root { color-scheme: light; } section { break-inside: avoid; } }`;

/**
 * The answers as one self-contained page, without scripts or anything from elsewhere: light and
 * dark, for small screens and paper.
 */
export function pageOf({ title, answers, privacy, notes }: AnswerPage): string {
  const promise = privacy === null ? '<p>Nothing was run, and nothing is charged.</p>'
    : `<p>Whatever anybody else knows, this page lets nobody find out much about one person: it is
differentially private with epsilon ${formatNumber(privacy.epsilon)} and delta ${
  formatNumber(privacy.delta)}. Smaller numbers protect more. Noise was added for it, and the
intervals count that noise.</p><p class="quiet">Epsilon and delta bound how well the answer can tell
apart ${escaped(privacy.neighbours)}.</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title><style>
${style}
</style></head><body><main><h1>${escaped(title)}</h1>
${answers.map(sectionOf).join('\n')}
<section><h2>What is promised</h2>${promise}
${notes.map((note) => `<p class="quiet">${escaped(sentence(note))}</p>`).join('\n')}</section>
</main></body></html>
`;
}

/**
 * Writes the page to a new file, whole or not at all.
 * @throws InvalidInputError if the file exists already or cannot be written.
 */
export function writePage(path: string, page: string): void {
  const draft = `${path}.${randomUUID()}.part`;
  try {
    writeFileSync(draft, page, { flag: 'wx', flush: true });
    // Fails if the file was made in the meantime, which a rename would replace.
    linkSync(draft, path);
  } catch (error) {
    throw asInputError(error, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Refuses a file that could not be written, before anything is charged. */
export function checkPagePath(path: string): void {
  if (!existsSync(path)) return;
  throw new InvalidInputError(`--html ${path}: the file exists and is not overwritten: name another`,
    { path });
}

function sectionOf(answer: PageAnswer): string {
  const { heading, refusal, names, estimate, interval95, intervalIfFalse95, notes } = answer;
  if (refusal !== null) {
    return `<section><h2>${escaped(heading)}</h2><p>No answer: ${escaped(refusal)}</p></section>`;
  }
  const shown = shownInterval(answer);
  const textOf = (i: number): string =>
    numberText(estimate[i]!, shown, i, answer.texts?.[i]);
  const endsOf = (interval: Interval95 | undefined, i: number): string =>
    intervalText(interval, i, answer.texts?.[i]);
  const lies = intervalIfFalse95 !== undefined;
  const rows = names.map((name, i) => [
    lineText(name), textOf(i), endsOf(shown, i), ...(lies ? [endsOf(interval95, i)] : []),
  ]);
  const heads = ['', 'answer', '95 % interval', ...(lies ? ['if nobody lies'] : [])];
  const lead = estimate.length === 1
    ? `<p class="lead">${escaped(textOf(0))}</p><p class="quiet">${escaped(names[0]!)}</p>` : '';
  const alsoIf = lies ? `, ${ifFalseText(answer.parameters)}` : '';
  return `<section><h2>${escaped(heading)}</h2>${lead}
${picturesOf(answer)}
<div class="scroll"><table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr>
</thead><tbody>${rows.map(([name, ...cells]) => `<tr><th scope="row">${escaped(name!)}</th>${
  cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`).join('\n')}</tbody></table></div>
${shown === undefined ? '' : `<p class="quiet">The true answer lies in the 95 % interval in about 95 of
100 cases${alsoIf}.</p>`}
${notes.map((note) => `<p>${escaped(sentence(note))}</p>`).join('\n')}</section>`;
}

const pictureLabel = 'each number on its interval; the table has them';
const [width, left, right, rowHeight] = [720, 200, 24, 34] as const;

/** The pictures of an answer: one for all of its numbers, or one for each where units differ. */
function picturesOf(answer: PageAnswer): string {
  const places = answer.names.map((_, i) => i);
  if (places.length > picturedMost) return '';
  return (answer.isOneUnit ? [places] : places.map((i) => [i]))
    .map((each) => pictureOf(answer, each)).join('\n');
}

/** A dot for each number, on its interval, which is a thick line. */
function pictureOf(answer: PageAnswer, places: readonly number[]): string {
  const { names, estimate } = answer;
  const shown = shownInterval(answer);
  const inner = answer.intervalIfFalse95 === undefined ? undefined : answer.interval95;
  const finite = places.flatMap((i) =>
    [estimate[i]!, shown?.low[i] ?? NaN, shown?.high[i] ?? NaN].filter(Number.isFinite));
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  if (shown === undefined || !(high > low)) return '';
  // An open end of an interval is drawn to the end of the picture.
  const inside = (value: number): number =>
    (Number.isFinite(value) ? value : value > 0 ? high : low);
  const x = (value: number): number =>
    left + ((inside(value) - low) / (high - low)) * (width - left - right);
  const marks = places.flatMap((i, row): Mark[] => {
    const name = names[i]!;
    const y = (row + 0.5) * rowHeight;
    const bar = (interval: Interval95, opacity: number): Mark => ({
      kind: 'path', points: [[x(interval.low[i]!), y], [x(interval.high[i]!), y]],
      colour: 'var(--accent)', width: 12, opacity,
    });
    const text = name.length > 28 ? `${name.slice(0, 27)}…` : name;
    return [
      { kind: 'text', at: [left - 16, y + 5], text, size: 14, colour: 'var(--ink)', align: 'end' },
      { kind: 'path', points: [[left, y], [width - right, y]], colour: 'var(--line)', width: 1 },
      bar(shown, 0.25), ...(inner === undefined ? [] : [bar(inner, 0.25)]),
      { kind: 'path', points: [[x(estimate[i]!), y], [x(estimate[i]!), y + 0.01]],
        colour: 'var(--accent)', width: 9 },
    ];
  });
  const bottom = places.length * rowHeight;
  const end = (value: number, align: 'start' | 'end'): Mark => ({
    kind: 'text', at: [align === 'start' ? left : width - right, bottom + 18],
    text: formatNumber(value, (high - low) / 20), size: 12, colour: 'var(--quiet)', align,
  });
  return svgOf({
    width, height: bottom + 26, background: 'none',
    marks: [...marks, end(low, 'start'), end(high, 'end')],
  }).replace('<svg ', `<svg role="img" aria-label="${pictureLabel}" `);
}

function sentence(text: string): string {
  const whole = `${text[0]!.toUpperCase()}${text.slice(1)}`;
  return whole.endsWith('.') ? whole : `${whole}.`;
}
