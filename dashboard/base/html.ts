import { html as template } from 'htm/preact';
import type { VNode } from 'preact';

/** Markup as a tagged template. Every template here has one root. */
export const html = template as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
