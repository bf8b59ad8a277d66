import { effect, signal } from '@preact/signals';

/** What a person asked for: `system` follows the platform. */
export type Theme = 'system' | 'light' | 'dark';

export const themes: readonly Theme[] = ['system', 'light', 'dark'];

const place = 'keelson-theme';

/** The theme in force. Setting it restyles the page and is remembered in this browser. */
export const theme = signal<Theme>(remembered());

/** Counts every change of colours, so that what is drawn rather than styled is drawn again. */
export const paint = signal(0);

/** Keeps the page in the chosen theme from here on. */
export function startTheme(): void {
  effect(() => {
    const { value } = theme;
    if (value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = value;
    remember(value);
    paint.value = paint.peek() + 1;
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { paint.value += 1; });
}

/** The colours that the theme gives to these custom properties now, as canvases understand them. */
export function coloursOf<Name extends string>(host: HTMLElement, names: readonly Name[]): Record<Name, string> {
  const probe = document.createElement('i');
  host.append(probe);
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(found) as Record<Name, string>;
}

/** Browsers may forbid storage altogether: then the system decides, every time. */
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
    // The page then forgets the choice when it is closed; nothing else depends on it.
  }
}
