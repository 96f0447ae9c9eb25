// AddressGuard: whatever the spelling, only public addresses and allowed ranges are let through.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressGuard } from './address-guard.ts';

const octet = fc.integer({ min: 0, max: 255 });

function guard(...ranges: string[]): AddressGuard {
  return new AddressGuard(ranges, () => []);
}

function hex(high: number, low: number): string {
  return ((high << 8) | low).toString(16);
}

describe('AddressGuard', () => {
  it.each(['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '2001:4860:4860::8888', '::ffff:1.1.1.1'])(
    'lets the public address %s through',
    (address) => {
      expect(guard().refusal(address)).toBeUndefined();
    },
  );

  it('decides alike for an IPv4 address and every IPv6 form that carries it', () => {
    fc.assert(
      fc.property(octet, octet, octet, octet, (a, b, c, d) => {
        const plain = guard().refusal(`${a}.${b}.${c}.${d}`) === undefined;
        expect(guard().refusal(`::ffff:${a}.${b}.${c}.${d}`) === undefined).toBe(plain);
        // Tunnels need a range, and even then lead to no address that would be refused by itself.
        const tunnels = [`2002:${hex(a, b)}:${hex(c, d)}::1`, `64:ff9b::${hex(a, b)}:${hex(c, d)}`];
        for (const tunnel of tunnels) {
          expect(guard().refusal(tunnel)).toBeDefined();
          expect(guard('2002::/16', '64:ff9b::/96').refusal(tunnel) === undefined).toBe(plain);
        }
      }),
    );
  });

  it('lets nothing of IPv6 through outside 2000::/3, for any address', () => {
    const outsideOfGlobal = fc.ipV6().filter((address) => {
      const host = new URL(`http://[${address}]`).hostname.slice(1);
      const first = Number.parseInt(host.split(':')[0] || '0', 16);
      return (first & 0xe000) !== 0x2000 && !host.startsWith('::ffff:');
    });
    fc.assert(fc.property(outsideOfGlobal, (address) => guard().refusal(address) !== undefined));
    expect(guard().refusal('4000::1')).toContain('not public');
    expect(guard().refusal('::1.0.0.0')).toContain('not public');
  });

  it('opens exactly the ranges that are allowed', () => {
    fc.assert(
      fc.property(octet, octet, octet, (b, c, d) => {
        const address = `10.${b}.${c}.${d}`;
        expect(guard('10.20.0.0/16').refusal(address) === undefined).toBe(b === 20);
        expect(guard('::ffff:10.20.0.0/112').refusal(address) === undefined).toBe(b === 20);
      }),
    );
  });

  it.each(['', '127.1', '0x7f000001', '2130706433', 'localhost', '1.1.1.1 ', '1.1.1.01'])(
    'takes %j for no address',
    (text) => {
      expect(guard('0.0.0.0/0').refusal(text)).toContain('is not an address');
    },
  );

  it('refuses this machine’s own addresses unless their range is allowed', () => {
    const own = () => ['93.184.216.40', 'fe80::1%eth0', '2606:4700::1'];
    expect(new AddressGuard([], own).refusal('93.184.216.40')).toContain('this machine');
    expect(new AddressGuard([], own).refusal('2606:4700:0::1')).toContain('this machine');
    expect(new AddressGuard(['93.184.216.40/32'], own).refusal('93.184.216.40')).toBeUndefined();
  });
});
