import { signal } from '@preact/signals';
import { routeOf, type Route } from './model.js';

export const route = signal<Route>(routeOf(location.hash));

/**
 * Follows the address from now on. After a change it scrolls to the top of the page and moves the
 * keyboard focus there.
 */
export function startRouting(): void {
  addEventListener('hashchange', () => {
    route.value = routeOf(location.hash);
    scrollTo(0, 0);
    document.getElementById('content')?.focus({ preventScroll: true });
  });
}

export function studyAddress(id: string): string {
  return `#/study/${id}`;
}
