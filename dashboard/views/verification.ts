import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { signing } from '../../client/index.js';
import { whole } from '../base/format.js';
import { html } from '../base/html.js';
import { historyOf, isUnread, serverKey, type Followed } from '../base/session.js';

/** The verdict on the signatures of what is shown, and the key of the server. */
export function Verification({ followed }: { readonly followed: Followed }): VNode {
  const { kind } = followed.link.value;
  const history = historyOf(followed);
  const count = whole(history.count);
  const all = history.count === 1
    ? 'The only release is verified' : `All ${count} releases verified`;
  const [tone, text] = kind === 'failed'
    ? ['bad', 'The log does not verify']
    : history.count === 0
      ? ['quiet', isUnread(followed) ? 'Waiting for the log' : 'Nothing to verify yet']
      : kind === 'live' || kind === 'ended'
        ? ['good', all] : ['quiet', `Verified so far: ${count}`];
  return html`<section class="card"><h2>Verification</h2><p class=${`verdict ${tone}`}>
    <${Mark} of=${tone} />${text}</p>
    <p
      class="quiet small">This browser checks every signature, and that each release continues the one before.</p>
    <dl class="facts stacked"><div><dt>Fingerprint of the server's key</dt>
      <dd><${Fingerprint} /></dd></div></dl>
    <details><summary>Compare the key</summary>
      <p class="small">The operator sees the same key where <code>keelson serve</code> was started.
      Ask the operator for it by another way than this page.</p>
      <dl class="facts stacked"><div><dt>Server key</dt><dd class="code">${serverKey.value}</dd></div>
      </dl></details></section>`;
}

function Mark({ of }: { readonly of: string }): VNode {
  const paths = {
    good: 'M4.5 10.5l3.500 3.500 7.500-8', bad: 'M5 5l10 10M15 5L5 15', quiet: 'M5 10h10',
  };
  return html`<svg class="icon mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <path d=${paths[of as keyof typeof paths]} /></svg>`;
}

/**
 * The fingerprint of the server's key, in the form that the command prints, for people who compare.
 */
function Fingerprint(): VNode {
  const [text, setText] = useState('');
  const key = serverKey.value;
  useEffect(() => {
    const bytes = Uint8Array.from(key.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const hex = Array.from(signing.sha512(bytes).slice(0, 16), (byte) =>
      byte.toString(16).padStart(2, '0')).join('');
    setText(hex.match(/.{4}/g)!.join(' '));
  }, [key]);
  return html`<span class="code">${text}</span>`;
}
