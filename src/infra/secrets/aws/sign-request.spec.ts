// The signature that AWS publishes for its example request comes out, and everything that is sent is in it.
import { describe, expect, it } from 'vitest';
import { signedHeaders } from './sign-request.ts';

const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const REQUEST = {
  method: 'GET',
  url: new URL('https://example.amazonaws.com/'),
  headers: {},
  body: '',
  region: 'us-east-1',
  service: 'service',
  at: Date.UTC(2015, 7, 30, 12, 36),
};
const signatureOf = (headers: Readonly<Record<string, string>>) =>
  /Signature=([0-9a-f]{64})$/.exec(headers['authorization'] ?? '')?.[1];

describe('signedHeaders', () => {
  it('signs get-vanilla of the test suite of AWS as AWS does', () => {
    const headers = signedHeaders(REQUEST, CREDENTIALS);
    expect(headers['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    );
  });

  it.each([
    ['the body', { body: '{}' }],
    ['the time', { at: REQUEST.at + 1_000 }],
    ['the path', { url: new URL('https://example.amazonaws.com/x') }],
    ['the host', { url: new URL('https://other.amazonaws.com/') }],
    ['a header', { headers: { 'x-amz-target': 'TrentService.Decrypt' } }],
    ['the region', { region: 'eu-west-1' }],
  ])('has %s in the signature', (_what, change) => {
    const plain = signatureOf(signedHeaders(REQUEST, CREDENTIALS));
    expect(signatureOf(signedHeaders({ ...REQUEST, ...change }, CREDENTIALS))).not.toBe(plain);
  });

  it('has the token of a session among what is signed', () => {
    const headers = signedHeaders(REQUEST, { ...CREDENTIALS, sessionToken: 'a-session' });
    expect(headers['x-amz-security-token']).toBe('a-session');
    expect(headers['authorization']).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token,');
  });
});
