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

  it('lets an ISATAP address through where the IPv4 address in it would be, under any public prefix', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((part) => part.toString(16));
    const publicPrefix = fc.tuple(
      fc.integer({ min: 0x2400, max: 0x2bff }).map((part) => part.toString(16)),
      group,
      group,
      group,
    );
    fc.assert(
      fc.property(
        publicPrefix,
        fc.constantFrom('0', '200'),
        octet,
        octet,
        octet,
        octet,
        (prefix, flag, a, b, c, d) => {
          const plain = guard().refusal(`${a}.${b}.${c}.${d}`) === undefined;
          const address = `${prefix.join(':')}:${flag}:5efe:${hex(a, b)}:${hex(c, d)}`;
          expect(guard().refusal(address) === undefined).toBe(plain);
        },
      ),
    );
  });

  it.each(['127.0.0.1', '10.0.0.1', '192.168.3.4', '169.254.169.254', '100.64.0.1', '0.0.0.0'])(
    'sees %s in every form that a tunnel or a translator takes, also in ranges that are allowed',
    (inner) => {
      const [a = 0, b = 0, c = 0, d = 0] = inner.split('.').map(Number);
      const [high, low] = [hex(a, b), hex(c, d)];
      const [notHigh, notLow] = [hex(a ^ 0xff, b ^ 0xff), hex(c ^ 0xff, d ^ 0xff)];
      const everything = guard(
        '2001::/32',
        '2002::/16',
        '64:ff9b::/96',
        '64:ff9b:1::/48',
        '2600::/12',
        '::/96',
        '::ffff:0:0:0/96',
      );
      for (const address of [
        `2606:4700::5efe:${high}:${low}`,
        `2606:4700::200:5efe:${inner}`,
        `2002:808:808::5efe:${inner}`,
        `2002:${high}:${low}::1`,
        `2001:0:${high}:${low}:0:0:f7f7:f7f7`,
        `2001:0:808:808:0:0:${notHigh}:${notLow}`,
        `64:ff9b::${high}:${low}`,
        `64:ff9b:1::${high}:${low}`,
        `64:ff9b:1:${hex(a, b)}:${hex(0, c)}:${hex(d, 0)}::`,
        `64:ff9b:1:${hex(0, a)}:${hex(0, b)}:${hex(c, d)}::`,
        `64:ff9b:1:0:${hex(0, a)}:${hex(b, c)}:${hex(d, 0)}:0`,
        `::ffff:0:${high}:${low}`,
        `::ffff:${inner}`,
        `::${high}:${low}`,
      ])
        expect.soft(everything.refusal(address), address).toBeDefined();
    },
  );

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
