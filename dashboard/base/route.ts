import { signal } from '@preact/signals';
import { routeOf, type Route } from './model.js';

export const route = signal<Route>(routeOf(location.hash));

/** Follows the address from here on. The top of a page that was gone to is in view, and the keyboard goes on there. */
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
