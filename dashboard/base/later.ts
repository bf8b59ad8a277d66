import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { systemClock } from '../../client/base/clock.js';
import { html } from './html.js';

/** The wait until a part that did not load is requested again. */
const againMs = 5_000;

/** A part of the page that its first view does not need. */
export interface Later<Props> {
  readonly View: (props: Props) => VNode;
  /** Loads it now, so that it is there also when the server is away later. */
  load(): Promise<void>;
}

/**
 * A view whose code is loaded when it is first shown. Until then there is an empty box.
 * @param box the class of that box, which should have the height of the view.
 */
export function later<Props extends object>(
  ask: () => Promise<ComponentType<Props>>, box = '',
): Later<Props> {
  let loaded: ComponentType<Props> | null = null;
  const load = async (): Promise<void> => { loaded ??= await ask(); };
  const again = (onEnd: () => void): (() => void) => systemClock.after(againMs, () => {
    load().then(onEnd, onEnd);
  });
  const View = (props: Props): VNode => {
    const [fault, setFault] = useState<boolean | null>(loaded === null ? null : false);
    useEffect(() => {
      // It may have come after the drawing and before this: without a change nothing is drawn
      // again.
      if (loaded !== null) return setFault(false);
      let cancel = (): void => undefined;
      const ended = (): void => {
        setFault(loaded === null);
        if (loaded === null) cancel = again(ended);
      };
      load().then(ended, ended);
      return () => cancel();
    }, []);
    if (loaded !== null) return html`<${loaded} ...${props} />`;
    return html`<div class=${box}>${fault === true && html`<p class="quiet small">This part did not
      load. It is asked for again; reload the page if it does not come.</p>`}</div>`;
  };
  return { View, load };
}
