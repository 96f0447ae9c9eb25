// Certificates as the settings map them: what fits is one of them, what does not is nobody, and none outlives its time.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { ClientCertificate } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { auth, type CertificateSettings } from '../../settings/auth-settings.ts';
import type { Roles } from '../keys/known-key.ts';
import { altNames } from './alt-names.ts';
import { CertificateAuthenticator } from './certificate-authenticator.ts';

const VOICE = { name: 'voice', san: 'DNS:voice.internal', tenant: 'acme', roles: ['clerk'] };
const BATCH = { name: 'batch', subject: { CN: 'batch' }, tenants: '*', roles: ['clerk'] };

const settingsOf = (...mapped: readonly object[]): readonly CertificateSettings[] =>
  auth.parse({ client_certificates: mapped }).client_certificates;

function setUp(...mapped: readonly object[]) {
  const clock = new FakeClock(1_000);
  const declared: { roles: Roles } = { roles: { clerk: ['notes:read'] } };
  const certificates = new CertificateAuthenticator(settingsOf(...mapped), () => declared.roles, clock);
  const told = (changes: Partial<ClientCertificate>, tenant?: string) => {
    const certificate = { subject: {}, subjectAltName: '', validTo: 2_000, ...changes };
    try {
      return certificates.authenticate(certificate, tenant).id;
    } catch (error) {
      if (error instanceof ToolFailure) return error.reason;
      throw error;
    }
  };
  return { certificates, clock, declared, told };
}

describe('a certificate', () => {
  it('is the first that fits, and nobody where none does', () => {
    const { told } = setUp(VOICE, BATCH, { ...BATCH, name: 'second' });
    expect(told({ subjectAltName: 'DNS:voice.internal' })).toBe('certificate:voice');
    expect(told({ subject: { CN: 'batch' } }, 'acme')).toBe('certificate:batch');
    expect(told({ subject: { CN: ['batch', 'other'] } }, 'acme')).toBe('CREDENTIAL_INVALID');
    expect(told({})).toBe('CREDENTIAL_INVALID');
  });

  it('is refused from its end on, though its connection is open', () => {
    const { told, clock } = setUp(VOICE);
    const certificate = { subjectAltName: 'DNS:voice.internal' };
    clock.jumpTo(1_999);
    expect(told(certificate)).toBe('certificate:voice');
    clock.jumpTo(2_000);
    expect(told(certificate)).toBe('CREDENTIAL_EXPIRED');
  });

  it('may do what its roles mean now', () => {
    const { certificates, declared } = setUp(VOICE);
    const held = () => {
      const grant = { principalId: 'certificate:voice', tenantId: 'acme', permissions: [] };
      return [...certificates.recall(grant).permissions];
    };
    expect(held()).toEqual(['notes:read']);
    declared.roles = { clerk: ['notes:write'] };
    expect(held()).toEqual(['notes:write']);
    declared.roles = {};
    expect(held()).toEqual([]);
  });

  it('that is mapped no more has its calls refused, and so have tenants that it does not serve', () => {
    const { certificates, declared } = setUp(VOICE, BATCH);
    const recalled = (principalId: string, tenantId: string) => () =>
      certificates.recall({ principalId, tenantId, permissions: [] }).tenantId;
    expect(recalled('certificate:batch', 'wayne')()).toBe('wayne');
    const revoked = expect.objectContaining({ reason: 'CREDENTIAL_REVOKED' });
    expect(recalled('certificate:voice', 'umbrella')).toThrow(revoked);
    certificates.prepared(settingsOf(VOICE), declared.roles)();
    expect(recalled('certificate:batch', 'wayne')).toThrow(revoked);
    expect(recalled('certificate:voice', 'acme')()).toBe('acme');
  });

  it.each([
    ['both subject and san', { ...VOICE, subject: { CN: 'x' } }],
    ['neither', { ...VOICE, san: undefined }],
    ['an empty subject', { ...BATCH, subject: {} }],
    ['tenant and tenants', { ...VOICE, tenants: ['acme'] }],
    ['no tenant, and a role that needs one', { ...VOICE, tenant: undefined }],
    ['a star for a tenant', { ...VOICE, tenant: '*' }],
    ['a name that is none', { ...VOICE, san: 'voice.internal' }],
    ['a name for itself that could be another', { ...VOICE, name: 'a#b' }],
  ])('with %s is refused in the settings', (_what, wanted) => {
    expect(auth.safeParse({ client_certificates: [wanted] }).success).toBe(false);
  });

  it('with a role that there is not is refused, and changes nothing', () => {
    const { certificates, told } = setUp(VOICE);
    expect(() => certificates.prepared(settingsOf({ ...VOICE, roles: ['ghost'] }), {})).toThrow(
      /role "ghost"/,
    );
    expect(told({ subjectAltName: 'DNS:voice.internal' })).toBe('certificate:voice');
  });
});

describe('alternative names', () => {
  it('are read with their kinds, quoted ones as they are meant', () => {
    const text = 'DNS:a.internal, URI:spiffe://acme/voice, IP Address:127.0.0.1, DNS:"b, URI:spiffe://x"';
    expect([...altNames(text)]).toEqual([
      'DNS:a.internal',
      'URI:spiffe://acme/voice',
      'IP Address:127.0.0.1',
      'DNS:b, URI:spiffe://x',
    ]);
  });

  it.each([
    'DNS',
    'DNS:"a',
    'DNS:a,URI:b,',
    'DNS:a, ',
    ', DNS:a',
    'DNS:a"b", URI:c',
    'DNS:a\nURI:b: "',
    '"DNS":a',
  ])('that cannot be read, as in %j, are none or one that nothing was cut from', (text) => {
    for (const name of altNames(text)) expect(text).toBe(name);
  });

  it('as Node quotes them never give a name that was not one', () => {
    const name = fc.string({ unit: 'grapheme-ascii', maxLength: 30 });
    const quoted = (value: string) => (/[^\w.:/-]/.test(value) ? JSON.stringify(value) : value);
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (values) => {
        const text = values.map((value) => `URI:${quoted(value)}`).join(', ');
        expect([...altNames(text)]).toEqual([...new Set(values.map((value) => `URI:${value}`))]);
      }),
    );
  });
});
