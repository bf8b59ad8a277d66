import { signal } from '@preact/signals';

/** Where the address says one is. Study pages are `#/study/ID`, so that links and reloads keep them. */
export type Route = { readonly kind: 'list' } | { readonly kind: 'study'; readonly id: string };

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

function routeOf(hash: string): Route {
  const found = /^#\/study\/([0-9a-f]{64})$/.exec(hash);
  return found === null ? { kind: 'list' } : { kind: 'study', id: found[1]! };
}
