// NameResolver: addresses of names, without the C library's blocking lookup: that holds one of few threads for as long as a
// name server is silent, and all other lookups of the process wait behind it. One lookup at a time for each name, bounded.
import { NODATA, NOTFOUND, SERVFAIL, TIMEOUT } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { codeOf } from '../../lib/error-code.ts';
import { HostsFile } from './hosts-file.ts';
import { readSearchRules, wholeNames } from './search-rules.ts';

export interface NameResolverOptions {
  /** `address:port`, in place of those of resolv.conf. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  readonly resolvConf?: string;
  /** For one name, with all that it may stand for. */
  readonly timeoutMs?: number;
}

type Lookup = Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel' | 'setServers'>;

const DEFAULT_TIMEOUT_MS = 3_000;
/** One server has so long to answer before the next one, or the same again, is asked. */
const SERVER_TIMEOUT_MS = 1_000;
const TRIES = 3;
/** Names in the air at one time: hosts are named by declarations, so that more is no honest load. */
const MOST_PENDING = 1_000;
/** What a server says of a name, and no silence. */
const ANSWERS: readonly string[] = [NODATA, NOTFOUND, SERVFAIL];
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

export class NameResolver {
  readonly #options: NameResolverOptions;
  readonly #hosts: HostsFile;
  readonly #pending = new Map<string, Promise<readonly string[]>>();

  constructor(options: NameResolverOptions = {}) {
    this.#options = options;
    this.#hosts = new HostsFile(options.hostsFile ?? '/etc/hosts');
  }

  /** For node:net, where a library makes its own sockets. */
  readonly lookup: LookupFunction = (hostname, options, done) => {
    this.resolve(hostname).then(
      (addresses) => {
        const wanted = Number(String(options.family ?? 0).replace('IPv', ''));
        const all = addresses.map((address) => ({ address, family: isIP(address) }));
        const fitting = all.filter(({ family }) => wanted === 0 || family === wanted);
        const [first] = fitting;
        if (first === undefined) done(notFound(hostname), '');
        else if (options.all === true) done(null, fitting);
        else done(null, first.address, first.family);
      },
      (error: unknown) => done(error as Error, ''),
    );
  };

  isPending(hostname: string): boolean {
    return this.#pending.has(hostname);
  }

  /** Rejects with ToolFailure UNAVAILABLE, reason DNS_TIMEOUT, where no server answers in time; else with Error. */
  resolve(hostname: string): Promise<readonly string[]> {
    if (isIP(hostname) !== 0) return Promise.resolve([hostname]);
    const running = this.#pending.get(hostname);
    if (running !== undefined) return running;
    if (this.#pending.size >= MOST_PENDING)
      return Promise.reject(new Error(`${MOST_PENDING} names are being looked up already.`));
    const looking = this.#lookUp(hostname.toLowerCase()).finally(() => this.#pending.delete(hostname));
    this.#pending.set(hostname, looking);
    return looking;
  }

  async #lookUp(hostname: string): Promise<readonly string[]> {
    const name = hostname.replace(/\.$/, '');
    const known = await this.#hosts.find(name);
    if (known !== undefined) return known;
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    const { servers, resolvConf = '/etc/resolv.conf', timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    const names = wholeNames(hostname, await readSearchRules(resolvConf));
    // One for each lookup: it can be cancelled by itself, and reads the machine's name servers as they are now.
    const resolver = new Resolver({ timeout: Math.min(SERVER_TIMEOUT_MS, timeoutMs), tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      resolver.cancel();
    }, timeoutMs);
    try {
      return await firstOf(names, resolver);
    } catch (error) {
      throw isLate || codeOf(error) === TIMEOUT ? dnsTimeout(hostname) : error;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** No name server said anything of the name; nothing was sent. */
export function dnsTimeout(hostname: string): ToolFailure {
  return toolFailure('DNS_TIMEOUT', "The upstream's name could not be looked up in time.", {
    partialSideEffects: false,
    cause: new Error(`No name server answered in time for ${hostname}.`),
  });
}

/** A server that says there is no such name, or that it cannot say, leaves the next name to be asked for; silence does not. */
async function firstOf(names: readonly string[], resolver: Lookup): Promise<readonly string[]> {
  let failure: unknown;
  for (const name of names) {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (addresses.length > 0) return addresses;
    const errors = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    const fatal = errors.find((error) => !isAnswer(error));
    if (fatal !== undefined) throw fatal;
    failure ??= errors[0];
  }
  throw failure;
}

function isAnswer(error: unknown): boolean {
  return ANSWERS.includes(codeOf(error));
}

function notFound(hostname: string): Error {
  return Object.assign(new Error(`${hostname} has no address of the family asked for.`), { code: NOTFOUND });
}
