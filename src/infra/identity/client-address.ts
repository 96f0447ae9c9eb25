// From which address a request comes: its connection's, or where that is a trusted proxy, the one that the proxy names.
import { BlockList, isIP } from 'node:net';
import type { ClientAddress } from '../../contract/call/principal.ts';

/** As many as proxies may well stand in a row; the rest of a longer list is not read. */
const MOST_HOPS = 16;

export class ClientAddresses {
  readonly #trusted = new BlockList();
  readonly #areAnyTrusted: boolean;

  /** Addresses and CIDR ranges, which are valid. */
  constructor(trusted: readonly string[]) {
    this.#areAnyTrusted = trusted.length > 0;
    for (const each of trusted) {
      const [address = '', bits] = each.split('/');
      const family = familyOf(address);
      if (bits === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(bits), family);
    }
  }

  /** What failures are counted under: an IPv4 address, or the /64 of an IPv6 one, since a client has all of that. */
  of({ peer, forwardedFor }: ClientAddress): string {
    if (forwardedFor === undefined || !this.#areAnyTrusted || !this.#isTrusted(peer)) return networkOf(peer);
    return networkOf(this.#namedBy(forwardedFor) ?? peer);
  }

  /** From the right: each proxy adds whom it heard. What stands left of the first that is not trusted, anybody may have written. */
  #namedBy(forwardedFor: string): string | undefined {
    let found: string | undefined;
    for (const said of forwardedFor.split(',').slice(-MOST_HOPS).toReversed()) {
      const address = bareAddress(said.trim());
      if (isIP(address) === 0) return found;
      found = address;
      if (!this.#isTrusted(address)) return found;
    }
    return found;
  }

  #isTrusted(text: string): boolean {
    const address = withoutMapping(text);
    return isIP(address) !== 0 && this.#trusted.check(address, familyOf(address));
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** `[::1]:80` and `1.2.3.4:80` without brackets and port. */
function bareAddress(said: string): string {
  const [, inBrackets, plain] = /^(?:\[([0-9A-Fa-f:.%]+)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/.exec(said) ?? [];
  return withoutMapping(inBrackets ?? plain ?? said);
}

/** An IPv4 client of a socket for both families. */
function withoutMapping(address: string): string {
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice('::ffff:'.length) : address;
}

function networkOf(text: string): string {
  const address = withoutMapping(text);
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const left = 8 - before.length - after.length - (address.includes('.') ? 1 : 0);
  const groups =
    tail === undefined ? before : [...before, ...Array<string>(Math.max(0, left)).fill('0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
