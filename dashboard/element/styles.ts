/** The element's own styles. Pages change the custom properties. */
export const styles = `
:host { display: block; min-width: 0; height: 22rem; color-scheme: light dark;
  --keelson-ink: light-dark(#15202b, #e6ecf2); --keelson-quiet: light-dark(#526170, #9dabb9);
  --keelson-card: light-dark(#ffffff, #151c24); --keelson-line: light-dark(#dde3e9, #2a3541);
  --keelson-accent: light-dark(#0b5a8f, #6bb8f0); --keelson-warn: light-dark(#8a4b00, #f5b25e);
  --keelson-bad: light-dark(#ad2a1f, #ff8c80); --keelson-good: light-dark(#136c42, #62d296);
  --keelson-minus: light-dark(#c4501b, #ee8350);
  font: 400 1rem/1.4 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
:host([hidden]) { display: none; }
:host([theme='light']) { color-scheme: light; } :host([theme='dark']) { color-scheme: dark; }
.card { box-sizing: border-box; height: 100%; display: flex; flex-direction: column; gap: .25rem;
  padding: 1rem 1.125rem .75rem; color: var(--keelson-ink); background: var(--keelson-card);
  border: 1px solid var(--keelson-line); border-radius: .75rem; }
p { margin: 0; overflow-wrap: anywhere; }
.study, .range, .note, .readout, .state { color: var(--keelson-quiet); font-size: .8125em; }
.name { font-weight: 600; } .name::first-letter { text-transform: uppercase; }
.value { font-size: 1.75em; font-weight: 650; line-height: 1.15; letter-spacing: -.015em;
  font-variant-numeric: tabular-nums; }
.plot { flex: 1; min-height: 7rem; position: relative; margin-top: .375rem; touch-action: pan-y;
  cursor: crosshair; overflow: hidden; }
.plot:focus-visible { outline: 2px solid var(--keelson-accent); outline-offset: 2px; border-radius: .25rem; }
canvas { position: absolute; inset: 0; width: 100%; height: 100%; }
.readout { min-height: 1.5em; font-variant-numeric: tabular-nums; }
.state { display: flex; flex-wrap: wrap; gap: .125rem .5rem; align-items: baseline; justify-content: space-between;
  border-top: 1px solid var(--keelson-line); padding-top: .5rem; margin-top: auto; }
.state b { font-weight: 600; color: var(--keelson-good); }
.state b::before { content: '✓ '; } .state .bad { color: var(--keelson-bad); } .state .bad::before { content: '× '; }
.state .none { display: none; } .state .reconnecting { color: var(--keelson-warn); }
.dot { display: inline-block; width: .5rem; height: .5rem; margin-right: .375rem; border-radius: 50%;
  background: currentColor; }
.live .dot { color: var(--keelson-good); }
`;
