import { expect, it } from 'vitest';

it('is imported where there are no elements, as a server does that renders pages', async () => {
  expect('HTMLElement' in globalThis).toBe(false);
  const { KeelsonChart } = await import('../../dashboard/element/index.js');
  expect(KeelsonChart.observedAttributes).toContain('study');
  // A type test: the tag has its class.
  const made = null as HTMLElementTagNameMap['keelson-chart'] | null;
  expect(made).toBeNull();
});
