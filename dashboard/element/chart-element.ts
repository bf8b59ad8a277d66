import type { StudyDocument, VerifiedRelease } from '../../client/index.js';
import { leftOutText } from '../../client/words.js';
import { newestIn, partOf, type Series } from '../base/model.js';
import { possible } from '../base/number-words.js';
import { liarsWords, numberNow, readoutOf } from '../base/readout.js';
import { answersTo, chartNamed, chartsOf, type Answers, type ChartedNumber } from './charts.js';
import { drawOn, nearestTo } from './drawing.js';
import { followStudy, gathered, type ElementState } from './following.js';
import { styles } from './styles.js';

/** Releases that are drawn if `last` is not set. The whole log is verified. */
const lastDefault = 100;
const parts = ['study', 'name', 'value', 'range', 'note', 'plot', 'readout', 'state'] as const;
/** A server that renders pages imports this module too, and has no elements. */
const Base = globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

let sheet: CSSStyleSheet | undefined;
/** One for all elements of a page. */
function sharedSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
  }
  return sheet;
}

/** The attributes of the element, for the types of JSX. docs/guides/embed-a-chart.md has them. */
export interface ChartAttributes {
  readonly server?: string;
  readonly study?: string;
  /** 64 hexadecimal digits. */
  readonly 'server-key'?: string;
  readonly chart?: string;
  readonly last?: number | `${number}`;
  readonly heading?: string;
  readonly theme?: 'light' | 'dark';
}

/** A number, its drawn releases, and all that are kept. */
interface Shown {
  readonly number: ChartedNumber;
  readonly series: Series;
  readonly newest: Series;
}

type Box = Readonly<Record<(typeof parts)[number], HTMLElement>>;

/**
 * `<keelson-chart server="https://..." study="NAME" server-key="64 digits">`: one number of a study over
 * time with its 95 % intervals, live. Every release is verified against the pinned server key
 * before it is shown. The docs have the other attributes: docs/guides/embed-a-chart.md.
 *
 * It fires `keelson-release` with each verified release in `detail`, and `keelson-state` with
 * `{ kind, text }`.
 */
export class KeelsonChart extends Base {
  /** A change of one of these is shown at once; the first three begin from the start. */
  static readonly observedAttributes =
    ['server', 'study', 'server-key', 'chart', 'last', 'heading', 'theme'];

  readonly #box: Box;
  readonly #canvas = document.createElement('canvas');
  readonly #drawSoon = gathered(() => this.#draw());
  readonly #resized = new ResizeObserver(() => this.#drawSoon());
  #stop: AbortController | null = null;
  #document: StudyDocument | null = null;
  #answers: readonly Answers[] = [];
  #state: ElementState = { kind: 'connecting', text: 'Connecting' };
  #releases = 0;
  /** The release that is read out: its place in the shown part, and the places of all. */
  #pinned: number | null = null;
  #xs: readonly number[] = [];

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sharedSheet()];
    const card = document.createElement('div');
    card.className = 'card';
    card.setAttribute('part', 'card');
    this.#box = Object.fromEntries(parts.map((name) => {
      const part = document.createElement(name === 'plot' ? 'div' : 'p');
      part.className = name;
      card.append(part);
      return [name, part];
    })) as unknown as Box;
    const { plot, state } = this.#box;
    plot.append(this.#canvas);
    plot.tabIndex = 0;
    plot.setAttribute('role', 'slider');
    state.setAttribute('role', 'status');
    root.append(card);
    this.#listen(plot);
  }

  /** The names of all numbers that `chart` may have, once there is an answer. */
  get charts(): readonly string[] {
    return chartsOf(this.#answers).map(({ name }) => name);
  }

  /** The element's connection to its study. */
  get state(): ElementState {
    return this.#state;
  }

  /** Number of releases that were verified. */
  get verified(): number {
    return this.#releases;
  }

  /** Called by the browser. */
  connectedCallback(): void {
    this.#resized.observe(this.#box.plot);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.#drawSoon);
    this.#begin();
  }

  /** Called by the browser. */
  disconnectedCallback(): void {
    this.#resized.disconnect();
    matchMedia('(prefers-color-scheme: dark)').removeEventListener('change', this.#drawSoon);
    this.#stop?.abort();
    this.#stop = null;
  }

  /** Called by the browser. */
  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || this.#stop === null) return;
    if (['server', 'study', 'server-key'].includes(name)) this.#begin();
    else this.#drawSoon();
  }

  /** Follows the study of the attributes, from its first release on. */
  #begin(): void {
    this.#stop?.abort();
    const stop = this.#stop = new AbortController();
    this.#answers = [];
    this.#document = this.#pinned = null;
    this.#releases = 0;
    const given = (name: string): string => this.getAttribute(name)?.trim() ?? '';
    const server = given('server') === '' ? location.origin : given('server');
    void followStudy({ server, study: given('study'), key: given('server-key') }, {
      onStudy: (study) => {
        this.#document = study;
        this.#answers = answersTo(study);
      },
      onRelease: (release) => this.#take(release),
      onState: (state) => this.#become(state),
    }, stop.signal);
    this.#drawSoon();
  }

  #take(verified: VerifiedRelease): void {
    for (const { history } of this.#answers) history.take(verified.release);
    this.#releases += 1;
    this.dispatchEvent(new CustomEvent('keelson-release', { detail: verified }));
    this.#drawSoon();
  }

  #become(state: ElementState): void {
    this.#state = state;
    this.dispatchEvent(new CustomEvent('keelson-state', { detail: state }));
    this.#drawSoon();
  }

  /** The asked number and its shown releases; null while there is no answer. */
  #shown(): Shown | null {
    const number = chartNamed(chartsOf(this.#answers), this.getAttribute('chart') ?? '');
    if (number === undefined) return null;
    const newest = number.answers.history.series(number.slot);
    const last = Number(this.getAttribute('last') ?? lastDefault);
    return { number, newest, series: possible(newestOf(newest, last), number.words) };
  }

  #draw(): void {
    const { study, name, value, range, note, plot } = this.#box;
    const document = this.#document;
    study.textContent = this.getAttribute('heading') ?? document?.title ?? document?.study
      ?? nameOf(this.getAttribute('study') ?? '');
    this.#drawState();
    const shown = this.#shown();
    plot.hidden = shown === null;
    if (shown === null) {
      name.textContent = '';
      value.textContent = this.charts.length > 0 ? 'No such number in this study'
        : this.#state.kind === 'failed' ? 'Nothing is shown' : 'No answer yet';
      range.textContent = note.textContent = '';
      this.#readOut(null);
      return;
    }
    const { number: { words, answers: { asked, history } }, series, newest } = shown;
    const { lead, range: own } = numberNow(newest, words);
    const liars = history.lastValue === null ? null
      : liarsWords(history.lastValue.outcome, words.place, words, asked.parameters);
    const interval = `${own}${liars?.also ?? ''}`;
    name.textContent = words.name;
    value.textContent = lead;
    const at = newestIn(newest);
    range.textContent = `${interval}; epoch ${newest.epochs[at] ?? 0}${
      history.lastRefusal === null ? '' : ', the newest with an answer'}`;
    note.textContent = document === null ? '' : leftOutText(asked, document).join(' ');
    plot.setAttribute('aria-label', `${words.name} over time, now ${lead}, ${interval}`);
    this.#xs = drawOn(this.#canvas, series, words, this.#pinned);
    this.#readOut(shown);
  }

  #readOut(shown: Shown | null): void {
    const { readout, plot } = this.#box;
    readout.textContent = shown === null ? ''
      : readoutOf(shown.series, null, shown.number.words, this.#pinned);
    if (shown === null) return;
    const last = shown.series.epochs.length - 1;
    const place = this.#pinned ?? last;
    const said = readoutOf(shown.series, null, shown.number.words, place);
    for (const [name, value] of [
      ['min', 0], ['max', last], ['now', place], ['text', said],
    ] as const) plot.setAttribute(`aria-value${name}`, String(value));
  }

  #drawState(): void {
    const { kind, text } = this.#state;
    const verdict = document.createElement('b');
    const count = this.#releases;
    verdict.textContent = kind === 'failed' ? text : count === 0 ? ''
      : `${count} release${count === 1 ? '' : 's'} verified`;
    verdict.className = kind === 'failed' ? 'bad' : count === 0 ? 'none' : '';
    const link = document.createElement('span');
    link.className = kind;
    const dot = document.createElement('i');
    dot.className = 'dot';
    link.append(dot, kind === 'failed' ? 'Stopped' : text);
    const { state } = this.#box;
    // A status region is read out when it changes, so it changes only when its words do.
    const said = `${verdict.textContent} ${link.textContent}`;
    if (state.dataset['said'] === said) return;
    state.dataset['said'] = said;
    state.replaceChildren(verdict, link);
  }

  #pin(place: number | null): void {
    if (place === this.#pinned) return;
    this.#pinned = place;
    this.#drawSoon();
  }

  #listen(plot: HTMLElement): void {
    const point = ({ clientX }: PointerEvent): void =>
      this.#pin(nearestTo(this.#xs, clientX - plot.getBoundingClientRect().left));
    plot.addEventListener('pointermove', point);
    plot.addEventListener('pointerdown', point);
    plot.addEventListener('pointerleave', ({ pointerType }) => {
      // A finger that was lifted leaves its reading.
      if (pointerType !== 'touch') this.#pin(null);
    });
    plot.addEventListener('blur', () => this.#pin(null));
    plot.addEventListener('keydown', (event) => {
      const last = this.#xs.length - 1;
      const from = this.#pinned ?? last;
      const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
      if (event.key === 'Escape') return this.#pin(null);
      if (to === undefined || last < 0) return;
      event.preventDefault();
      this.#pin(Math.min(last, Math.max(0, to)));
    });
  }
}

/** A study's id is too long to be read. */
function nameOf(study: string): string {
  return /^[0-9a-f]{64}$/i.test(study) ? `Study ${study.slice(0, 12)}…` : study;
}

/** The newest releases of a series. */
function newestOf(series: Series, count: number): Series {
  const from = Number.isInteger(count) && count > 0 ? -count : -lastDefault;
  return partOf(series, (list) => list.slice(from));
}
