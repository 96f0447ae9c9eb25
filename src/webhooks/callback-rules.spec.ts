// Where webhooks may go: nowhere unless the operator says so, and to the usual ports unless others are listed.
import { expect, it } from 'vitest';
import { CallbackRules, type CallbackSettings } from './callback-rules.ts';

function refusal(url: string, settings: Partial<CallbackSettings> = {}): string | undefined {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const others = { allow_http: true, max_attempts: 1, base_delay_ms: 10, timeout_ms: 100 };
  return new CallbackRules({ allow_hosts: ['host'], secret, ...others, ...settings }).refusal(url);
}

it.each([
  ['http://host:22/cb', {}, 'names a port that this gateway may not call back'],
  ['http://host:6379/cb', {}, 'names a port that this gateway may not call back'],
  ['http://host:0/cb', { allow_ports: ['1-65535'] }, 'names a port that this gateway may not call back'],
  ['http://host/cb', {}, undefined],
  ['https://host/cb', {}, undefined],
  ['https://host:8443/cb', { allow_ports: [8443] }, undefined],
  ['https://host:8443/cb', { allow_hosts: ['host:8443'] }, undefined],
  [
    'https://host:8444/cb',
    { allow_hosts: ['host:8443'] },
    'names a port that this gateway may not call back',
  ],
  ['https://elsewhere:8443/cb', { allow_ports: [8443] }, 'names a host that this gateway may not call back'],
])('a callback to %s with %j: %s', (url, settings, expected) => {
  expect(refusal(url, settings)).toBe(expected);
});
