// Whose address a request has: nobody can choose it by a header, except through a proxy that is trusted.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientAddresses } from './client-address.ts';

describe('without a trusted proxy', () => {
  const addresses = new ClientAddresses([]);

  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
  ])('%s is %s, whatever a header says', (peer, address) => {
    expect(addresses.of({ peer })).toBe(address);
    expect(addresses.of({ peer, forwardedFor: '198.51.100.1' })).toBe(address);
  });
});

describe('behind trusted proxies', () => {
  const addresses = new ClientAddresses(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

  it.each([
    ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['fd00::1', '2001:db8:1:2::9', '2001:db8:1:2::/64'],
    // What the client wrote itself stands to the left.
    ['10.1.2.3', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '1.1.1.1, 203.0.113.9, 192.0.2.7, 10.9.9.9', '203.0.113.9'],
    ['10.1.2.3', '203.0.113.9:5000', '203.0.113.9'],
    ['10.1.2.3', '[2001:db8:1:2::9]:5000', '2001:db8:1:2::/64'],
    ['10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['10.1.2.3', 'nonsense', '10.1.2.3'],
    ['10.1.2.3', '1.1.1.1, nonsense, 10.0.0.9', '10.0.0.9'],
    ['10.1.2.3', '', '10.1.2.3'],
    // It is none of them.
    ['203.0.113.1', '198.51.100.1', '203.0.113.1'],
  ])('%s with "%s" is %s', (peer, forwardedFor, address) => {
    expect(addresses.of({ peer, forwardedFor })).toBe(address);
  });

  it('nothing that a client writes in front changes whose it is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000 }), (written) => {
        const forwardedFor = `${written}, 203.0.113.9`;
        expect(addresses.of({ peer: '10.0.0.1', forwardedFor })).toBe('203.0.113.9');
      }),
    );
  });
});
