import { effect, signal } from '@preact/signals';

/** The theme that a person chose: `system` follows the platform. */
export type Theme = 'system' | 'light' | 'dark';

export const themes: readonly Theme[] = ['system', 'light', 'dark'];

const place = 'keelson-theme';

/** The current theme. Setting it restyles the page, and this browser remembers it. */
export const theme = signal<Theme>(remembered());

/** Counts changes of colours, so that canvases are drawn again. */
export const paint = signal(0);

/** Applies the chosen theme to the page from now on. */
export function startTheme(): void {
  effect(() => {
    const { value } = theme;
    if (value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = value;
    remember(value);
    paint.value = paint.peek() + 1;
  });
  matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', () => { paint.value += 1; });
}

/** A browser may forbid storage. The theme then always follows the system. */
function remembered(): Theme {
  try {
    return themes.find((each) => each === localStorage.getItem(place)) ?? 'system';
  } catch {
    return 'system';
  }
}

function remember(value: Theme): void {
  try {
    if (value === 'system') localStorage.removeItem(place);
    else localStorage.setItem(place, value);
  } catch {
    // The page then forgets the choice when it closes. Nothing else depends on it.
  }
}
