import library from 'htm';
import { h, type VNode } from 'preact';

/**
 * Makes one element. htm would keep elements without values and use them again. Such an element
 * refers to the first tree that it was in, and Preact lets each tree refer to the next one, so no
 * tree would ever be freed. The 3 is htm's word for an element that is not to be kept.
 */
function element(this: [kind: number], ...made: Parameters<typeof h>): VNode {
  this[0] = 3;
  return h(...made);
}

type Template = (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

// The types of htm are those of its CommonJS form.
const htm = library as unknown as { bind(make: typeof element): Template };

/** Markup as a tagged template. Every template here has one root. */
export const html = htm.bind(element);
