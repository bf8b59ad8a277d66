import { computed, signal } from '@preact/signals';
import { routeOf, type Route } from './model.js';
import { plainView, queryOf, viewOf, type View } from './view.js';

export const route = signal<Route>(routeOf(location.hash));

/**
 * Follows the address from now on. A new page is shown from its top, and has the keyboard focus. A
 * change of the question keeps both: the focus is on the tab.
 */
export function startRouting(): void {
  addEventListener('hashchange', () => {
    const before = route.value;
    route.value = routeOf(location.hash);
    if (isSameStudy(before, route.value)) return;
    scrollTo(0, 0);
    document.getElementById('content')?.focus({ preventScroll: true });
  });
}

function isSameStudy(one: Route, two: Route): boolean {
  return one.kind === 'study' && two.kind === 'study' && one.id === two.id;
}

/** The view of a study's charts that the address asks for. */
export const view = computed((): View =>
  (route.value.kind === 'study' ? viewOf(route.value.query ?? '') : plainView));

/**
 * Changes the view, and the address with it. It adds nothing to the history of the browser: the way
 * back leads to the page before.
 */
export function changeView(id: string, change: Partial<View>): void {
  const { value: at } = route;
  const question = at.kind === 'study' ? at.question : undefined;
  const address = `${studyAddress(id, question)}${queryOf({ ...view.value, ...change })}`;
  history.replaceState(null, '', address);
  route.value = routeOf(address);
}

/** @param question the name of one of its questions; absent: the first one. */
export function studyAddress(id: string, question?: string): string {
  return `#/study/${id}${question === undefined ? '' : `/${question}`}`;
}
