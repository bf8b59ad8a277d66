import { createHash, createPrivateKey, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { blindMessage } from '../../client/token/blind-rsa.js';
import { signBlinded } from '../../cli/issuer/token-keys.js';
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.js';
import { claimedEnrolment, type EnrolmentClaim } from '../../server/listener/enrolment.js';
import {
  modulusOf, readBlindEnrolment, tokenChallenge, tokenInput, tokenKeyOf, tokenNonce,
} from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { root } from '../support/sources.js';

type Vector = Readonly<Record<'skS' | 'pkS' | 'token_challenge' | 'nonce' | 'blind' | 'salt'
  | 'token_request' | 'token_response' | 'token', string>>;
type Enrolment = Readonly<Record<'issuer' | 'study' | 'contributor' | 'challenge' | 'nonce'
  | 'key_id' | 'enrolment', string>>;
const { vectors, enrolment } = JSON.parse(
  readFileSync(`${root}test/vectors/blind-tokens.json`, 'utf8'),
) as { readonly vectors: readonly Vector[]; readonly enrolment: Enrolment };
const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

describe.each(vectors.map((vector, i) => [i + 1, vector] as const))('vector %i of RFC 9578', (
  _number, vector,
) => {
  const tokenKey = fromHex(vector.pkS);
  const modulus = modulusOf(tokenKey)!;
  const keyId = sha256(tokenKey);
  const input =
    tokenInput(fromHex(vector.nonce), sha256(fromHex(vector.token_challenge)), keyId);
  const blinded = (): ReturnType<typeof blindMessage> =>
    blindMessage(modulus, input, fromHex(vector.salt), fromHex(vector.blind));

  it('has the key in our form', () => {
    expect(toHex(tokenKeyOf(modulus))).toBe(vector.pkS);
  });

  it('is what the client asks for', async () => {
    const request = concatBytes(Uint8Array.of(0, 2, keyId.at(-1)!), (await blinded()).blinded);
    expect(toHex(request)).toBe(vector.token_request);
  });

  it('is what the issuer answers', () => {
    const key = createPrivateKey(Buffer.from(vector.skS, 'hex').toString());
    const request = fromHex(vector.token_request).subarray(3);
    expect(toHex(signBlinded(key, request))).toBe(vector.token_response);
  });

  it('is the token that comes of it, and node:crypto verifies it', async () => {
    const signature = (await blinded()).finish(fromHex(vector.token_response));
    expect(toHex(concatBytes(input, signature))).toBe(vector.token);
    const key = createPublicKey({ key: Buffer.from(tokenKey), format: 'der', type: 'spki' });
    expect(verify('sha384', input, key, signature)).toBe(true);
    expect(verify('sha384', input.with(5, input[5]! ^ 1), key, signature)).toBe(false);
  });

  it('is refused with one bit changed', async () => {
    const { finish } = await blinded();
    const answer = fromHex(vector.token_response);
    answer[100]! ^= 4;
    expect(() => finish(answer)).toThrow(/not a signature/);
    expect(() => finish(answer.subarray(1))).toThrow(/not a signature/);
  });
});

describe('an enrolment that another program made', () => {
  const admission = {
    kind: 'tokens', issuer: enrolment.issuer, fromMs: 1_000, perMs: 60_000,
    keys: ['00'.repeat(32), enrolment.key_id],
  } as const;
  const claimOf = (study: string) =>
    claimedEnrolment({ study, admission }, fromHex(enrolment.enrolment));

  it('has our challenge and our nonce', () => {
    const challenge = tokenChallenge(enrolment.issuer, enrolment.study, signing);
    expect(toHex(challenge)).toBe(enrolment.challenge);
    const { salt } = readBlindEnrolment(fromHex(enrolment.enrolment))!;
    expect(toHex(tokenNonce(salt, fromHex(enrolment.contributor), signing))).toBe(enrolment.nonce);
  });

  it('admits its key in the period of the issuer\'s key, and no other key or study', () => {
    const claim = claimOf(enrolment.study) as EnrolmentClaim;
    expect(claim).toMatchObject({ epochsFromMs: 61_000, untilMs: 121_000 });
    expect(claim.isIssuedTo(fromHex(enrolment.contributor))).toBe(true);
    expect(claim.isIssuedTo(fromHex(enrolment.nonce))).toBe(false);
    expect(claimOf('another')).toBe('not-enrolled');
  });
});
