import { systemClock } from '../../client/base/clock.js';
import type { KeelsonChart } from '../element/index.js';

/** A chart of a page that changes. */
export interface Shown {
  readonly element: KeelsonChart;
  /** True if all of its numbers are shown in turn. Else only the one that it has is shown. */
  readonly isWhole: boolean;
}

/** Shows one number after another, of several studies. A person can hold a chart, or go on. */
export class Turns {
  /** Buttons and the place in the row. */
  readonly controls = document.createElement('nav');
  readonly #place = document.createElement('span');
  readonly #hold = document.createElement('button');
  #at = { study: 0, number: 0 };
  #isHeld = false;
  #cancel = (): void => undefined;

  constructor(private readonly all: readonly Shown[], private readonly everySeconds: number) {
    this.controls.setAttribute('aria-label', 'Charts in turn');
    const buttons = document.createElement('div');
    const button = (
      text: string, act: () => void, made = document.createElement('button'),
    ): void => {
      made.type = 'button';
      made.textContent = text;
      made.addEventListener('click', act);
      buttons.append(made);
    };
    button('Back', () => this.#move(-1));
    button('Hold', () => this.#toggle(), this.#hold);
    button('Next', () => this.#move(1));
    this.controls.append(this.#place, buttons);
    // Other numbers of a study are known only after its first answer.
    for (const { element } of all) {
      element.addEventListener('keelson-release', () => this.#describe());
    }
    this.#show();
  }

  /** The names of a study's numbers; one without a name until there is an answer. */
  #numbersOf({ element, isWhole }: Shown): readonly string[] {
    const names = isWhole ? element.charts : [];
    return names.length === 0 ? [element.getAttribute('chart') ?? ''] : names;
  }

  #move(step: 1 | -1): void {
    const { study, number } = this.#at;
    const count = this.all.length;
    const next = number + step;
    const names = this.#numbersOf(this.all[study]!);
    if (next >= 0 && next < names.length) this.#at = { study, number: next };
    else {
      const other = (study + step + count) % count;
      const last = this.#numbersOf(this.all[other]!).length - 1;
      this.#at = { study: other, number: step > 0 ? 0 : last };
    }
    this.#show();
  }

  #toggle(): void {
    this.#isHeld = !this.#isHeld;
    this.#hold.setAttribute('aria-pressed', String(this.#isHeld));
    this.#hold.textContent = this.#isHeld ? 'Go on' : 'Hold';
    this.#show();
  }

  #show(): void {
    const { study, number } = this.#at;
    this.all.forEach(({ element }, i) => { element.hidden = i !== study; });
    const shown = this.all[study]!;
    const name = this.#numbersOf(shown)[number] ?? '';
    if (name !== '') shown.element.setAttribute('chart', name);
    this.#describe();
    this.#cancel();
    if (this.#isHeld) return;
    this.#cancel = systemClock.after(this.everySeconds * 1000, () => this.#move(1));
  }

  #describe(): void {
    const counts = this.all.map((each) => this.#numbersOf(each).length);
    const before = counts.slice(0, this.#at.study).reduce((sum, each) => sum + each, 0);
    const all = counts.reduce((sum, each) => sum + each, 0);
    this.#place.textContent = `Chart ${before + this.#at.number + 1} of ${all}`;
  }
}
