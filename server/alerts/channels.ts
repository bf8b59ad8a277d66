import type { Transporter } from 'nodemailer';
import type { Alert } from './alert.js';
import type { AlertSettings, EmailSettings } from '../study-file/settings.js';

/** A channel that delivers alerts to people. */
export interface AlertChannel {
  /** For the log. Never an address, which may hold a secret. */
  readonly name: 'webhook' | 'email';
  /** Resolves when the other side has taken the alert. */
  send(alert: Alert): Promise<void>;
}

/** The longest wait for an answer. */
const answerMs = 15_000;

/** One channel for each that the settings name. */
export function channelsOf({ webhook, email }: AlertSettings): readonly AlertChannel[] {
  return [
    ...(webhook === undefined ? [] : [webhookChannel(webhook.url)]),
    ...(email === undefined ? [] : [emailChannel(email)]),
  ];
}

/** `text` holds everything, so services that show one text (Slack, Mattermost) need no more. */
function webhookChannel(url: string): AlertChannel {
  return {
    name: 'webhook',
    async send({ kind, atMs, study, studyId, text, remedy }) {
      const response = await fetch(url, {
        method: 'POST', redirect: 'error', signal: AbortSignal.timeout(answerMs),
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          kind, at: new Date(atMs).toISOString(), study, studyId, text: `${text} ${remedy}`, remedy,
        }),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
    },
  };
}

function emailChannel({ relay, from, to, user, password }: EmailSettings): AlertChannel {
  const { protocol, hostname, port } = new URL(relay);
  const secure = protocol === 'smtps:';
  const options = {
    host: hostname, port: port === '' ? (secure ? 465 : 587) : Number(port), secure,
    connectionTimeout: answerMs, greetingTimeout: answerMs, socketTimeout: answerMs,
    // A password is never sent in the clear.
    ...(user !== undefined && { auth: { user, pass: password! }, requireTLS: !secure }),
  };
  let transport: Transporter | undefined;
  return {
    name: 'email',
    async send({ study, studyId, atMs, text, remedy }) {
      const lines = [text, '', remedy, '', `Study ${study} (${studyId.slice(0, 16)})`,
        new Date(atMs).toISOString()];
      // Loaded with the first letter, so that no other start pays for it.
      transport ??= (await import('nodemailer')).createTransport(options);
      await transport.sendMail({
        from, to: [...to], subject: `Keelson: ${text}`, text: lines.join('\n'),
      });
    },
  };
}
