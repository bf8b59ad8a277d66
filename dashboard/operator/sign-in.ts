import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { html } from '../base/html.js';
import { signIn } from './session.js';

/** The form for the token, with a hint where to find it. */
export function SignIn(): VNode {
  const [fault, setFault] = useState('');
  const [isAsking, setAsking] = useState(false);
  const send = (event: Event): void => {
    event.preventDefault();
    const field =
      (event.currentTarget as HTMLFormElement).elements.namedItem('token') as HTMLInputElement;
    setAsking(true);
    void signIn(field.value).then((said) => {
      setFault(said);
      setAsking(false);
      if (said !== '') field.select();
    });
  };
  return html`<main class="page door"><form class="card" onSubmit=${send}>
    <div><h1>Operator</h1>
    <p class="quiet">Exact figures of this server, for its operator.</p></div>
    <label class="field">Token<input name="token" type="password" autocomplete="current-password"
      required spellcheck="false"
      autofocus aria-describedby="token-help" aria-invalid=${fault !== ''} /></label>
    ${fault !== '' && html`<p class="fault" role="alert">${fault}</p>`}
    <button class="primary" disabled=${isAsking}>${isAsking ? 'Asking' : 'Sign in'}</button>
    <p class="quiet small"
      id="token-help">It is in <code>operator.token</code> in the server's data folder. This browser keeps a
      session for twelve hours, not the token.</p></form></main>`;
}
