// AddressGuard: which addresses a policy lets a request reach. Knows addresses alone; names are resolved before.
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [network: Address, bits: number];

/** Where clouds hand out credentials. Only a range that is this one address lets them through. */
const METADATA: ReadonlySet<string> = new Set(
  [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
  ].map((text) => ipaddr.parse(text).toString()),
);

/** Never a host to talk to; on many systems 0.0.0.0 and :: mean this machine. */
const NEVER: ReadonlySet<string> = new Set(['unspecified', 'broadcast', 'multicast']);

export class AddressGuard {
  readonly #allowed: readonly Range[];
  readonly #ownAddresses: () => readonly string[];

  constructor(allowPrivate: readonly string[], ownAddresses: () => readonly string[] = interfaceAddresses) {
    this.#allowed = allowPrivate.map((range) => {
      const [network, bits] = ipaddr.parseCIDR(range);
      // A range of v4-in-v6 addresses is one of v4 addresses: that is what they are compared as.
      return network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= 96
        ? ([network.toIPv4Address(), bits - 96] as const)
        : ([network, bits] as const);
    });
    this.#ownAddresses = ownAddresses;
  }

  /** Why the address may not be reached, for the log; undefined when it may. */
  refusal(text: string): string | undefined {
    const bare = text.replace(/%.*$/, '');
    // Only the usual spelling counts as an address: no octal, no hexadecimal, no missing parts.
    if (isIP(bare) === 0) return `"${text.slice(0, 80)}" is not an address`;
    return this.#refusalOf(ipaddr.process(isIP(bare) === 6 ? hexOnly(bare) : bare));
  }

  #refusalOf(address: Address): string | undefined {
    const text = address.toString();
    const range = address.range();
    if (NEVER.has(range)) return `${text} is ${range}`;
    const bitsNamed = this.#narrowestRange(address);
    if (METADATA.has(text)) {
      return bitsNamed === widthOf(address) ? undefined : `${text} is a cloud's metadata service`;
    }
    for (const inner of embeddedIPv4(address)) {
      const why = this.#refusalOf(inner);
      if (why !== undefined) return `${text} leads to an address of its own: ${why}`;
    }
    if (bitsNamed !== undefined) return undefined;
    if (!isPublic(address)) return `${text} is not public (${range})`;
    return this.#isOwn(text) ? `${text} is an address of this machine` : undefined;
  }

  /** Bits of the most exact allowed range that holds the address. */
  #narrowestRange(address: Address): number | undefined {
    const bits = this.#allowed
      .filter(([network, size]) => holds(network, size, address))
      .map(([, size]) => size);
    return bits.length === 0 ? undefined : Math.max(...bits);
  }

  #isOwn(text: string): boolean {
    return this.#ownAddresses().some((own) => isIP(own) !== 0 && ipaddr.process(own).toString() === text);
  }
}

/** `::1.2.3.4` as `::102:304`: ipaddr.js reads the dotted form as `::ffff:1.2.3.4`, which is another address. */
function hexOnly(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function holds(network: Address, bits: number, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

function widthOf(address: Address): number {
  return address.kind() === 'ipv4' ? 32 : 128;
}

/** Beyond what the registry calls unicast, IPv6 is public in 2000::/3 alone: that is all that was ever given out. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || ((address.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/** The IPv4 addresses inside, wherever a tunnel or a translator would look for one. */
function embeddedIPv4(address: Address): readonly ipaddr.IPv4[] {
  if (address instanceof ipaddr.IPv4) return [];
  const bytes = address.toByteArray();
  const range = address.range();
  const at = (...places: readonly number[]) => new ipaddr.IPv4(places.map((place) => bytes[place] ?? 0));
  const last = at(12, 13, 14, 15);
  const found = isIsatap(bytes) ? [last] : [];
  if (range === '6to4') return [...found, at(2, 3, 4, 5)];
  // The server, then the client, whose address is written inverted (RFC 4380).
  if (range === 'teredo')
    return [...found, at(4, 5, 6, 7), new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))];
  if (range === 'rfc6052')
    return [
      last,
      ...TRANSLATED.filter(({ empty }) => empty.every((place) => bytes[place] === 0)).map(({ from }) =>
        at(...from),
      ),
    ];
  const compatible = bytes.slice(0, 12).every((byte) => byte === 0) && range !== 'loopback';
  return range === 'rfc6145' || compatible ? [last] : found;
}

/**
 * Where an IPv4 address stands behind a shorter prefix than 96 bits (RFC 6052, section 2.2): the prefix for local use (RFC 8215)
 * leaves it open which of them it is, so that whatever may be meant has to be allowed.
 */
const TRANSLATED = [
  { from: [6, 7, 9, 10], empty: [8, 11, 12, 13, 14, 15] },
  { from: [7, 9, 10, 11], empty: [8, 12, 13, 14, 15] },
  { from: [9, 10, 11, 12], empty: [8, 13, 14, 15] },
] as const;

/** An interface identifier of ISATAP (RFC 5214), under any prefix: with the bit that says whether the IPv4 address is unique, or without. */
function isIsatap(bytes: readonly number[]): boolean {
  const [first, second, third, fourth] = bytes.slice(8, 12);
  return (first === 0x00 || first === 0x02) && second === 0x00 && third === 0x5e && fourth === 0xfe;
}

function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap(
    (entries) => entries?.map(({ address }) => address) ?? [],
  );
}
