/** The colours of these custom properties in the current theme, in a form for canvases. */
export function coloursOf<Name extends string>(
  host: HTMLElement, names: readonly Name[],
): Record<Name, string> {
  const probe = document.createElement('i');
  host.append(probe);
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(found) as Record<Name, string>;
}
