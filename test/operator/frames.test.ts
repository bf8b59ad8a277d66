import { describe, expect, it } from 'vitest';
import { startRig } from '../listener/harness.js';

const framed = ['/embed/anything', '/kiosk'];
const never = ['/', '/operator', '/embed.js', '/keelson-chart.js', '/v1/studies', '/embed/a/b'];

/** Which origins may show a page in a frame, by both headers. */
async function policyOf(
  address: string,
): Promise<readonly [ancestors: string, old: string | null]> {
  const { headers } = await fetch(address);
  const [, ancestors = ''] = /frame-ancestors ([^;]*)/
    .exec(headers.get('content-security-policy') ?? '') ?? [];
  return [ancestors, headers.get('x-frame-options')];
}

describe('pages in frames', () => {
  it('are none where the operator lists no origin', async () => {
    const rig = await startRig();
    for (const path of [...framed, ...never]) {
      expect(await policyOf(rig.url(path)), path).toEqual(["'none'", 'DENY']);
    }
  });

  it('are the embedded ones in listed origins, and no other', async () => {
    const rig = await startRig({ frameAncestors: ['https://a.example', 'https://b.example'] });
    for (const path of framed) {
      expect(await policyOf(rig.url(path)), path)
        .toEqual(['https://a.example https://b.example', null]);
    }
    for (const path of never) {
      expect(await policyOf(rig.url(path)), path).toEqual(["'none'", 'DENY']);
    }
  });

  it('have scripts of the server alone', async () => {
    const rig = await startRig({ frameAncestors: ['https://a.example'] });
    const { headers } = await fetch(rig.url('/embed/flights?chart=all'));
    expect(headers.get('content-security-policy'))
      .toContain("default-src 'none'; script-src 'self'");
  });

  it('give the element to pages of allowed origins only', async () => {
    const rig = await startRig({ allowedOrigins: ['https://a.example'] });
    const allowed = async (origin: string): Promise<string | null> =>
      (await fetch(rig.url('/keelson-chart.js'), { headers: { origin } })).headers
        .get('access-control-allow-origin');
    expect(await allowed('https://a.example')).toBe('https://a.example');
    expect(await allowed('https://b.example')).toBeNull();
  });
});
