// The guarded connector: a connection exists only where the policy says so. Checks the name, every address it
// resolves to, and the socket that came of it; nothing is looked up twice, so that no answer can change in between.
import { connect, isIP, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { egressFault } from '../../lib/egress/egress.ts';
import { portOf } from '../../lib/egress/egress-ports.ts';
import type { EgressPolicy } from '../../ports/egress/http-client.ts';
import { dnsTimeout, type NameResolver } from '../dns/name-resolver.ts';
import { AddressGuard } from './address-guard.ts';
import { connectFailed, egressDenied } from './http-failures.ts';

/** What reaches out of the process: replaced by tests, so that nothing leaves loopback even where a guard fails. */
export interface Outside {
  /** Every address of a name; rejects with a ToolFailure that says so where nobody answers in time. */
  resolve(hostname: string): Promise<readonly string[]>;
  /** Why nothing can be sent there at this moment; undefined: no name is being waited for. */
  unresolved?(hostname: string): ToolFailure | undefined;
  /** Begins a TCP connection to one of these addresses, without a lookup of its own. */
  dial(hostname: string, addresses: readonly string[], port: number): Socket;
  /** This machine's own addresses. */
  ownAddresses?(): readonly string[];
}

export interface ConnectorOptions {
  readonly policy: EgressPolicy;
  readonly outside: Outside;
  readonly timeoutMs: number;
  /** Trusted instead of the system's authorities. */
  readonly ca?: Buffer;
}

/** The world as it is. */
export function realOutside(names: NameResolver): Outside {
  return {
    resolve: (hostname) => names.resolve(hostname),
    unresolved: (hostname) => (names.isPending(hostname) ? dnsTimeout(hostname) : undefined),
    dial,
  };
}

function dial(hostname: string, addresses: readonly string[], port: number): Socket {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  const [only] = addresses;
  return connect({
    host: addresses.length === 1 && only !== undefined ? only : hostname,
    port,
    autoSelectFamily: true,
    lookup: (_, options, done) => {
      const [first] = answers;
      if (options.all === true) done(null, answers);
      else done(null, first?.address ?? '', first?.family);
    },
  });
}

export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { policy, outside, timeoutMs, ca } = options;
  const guard = new AddressGuard(policy.allowPrivate, outside.ownAddresses?.bind(outside));
  // Said explicitly: NODE_TLS_REJECT_UNAUTHORIZED would change what is left to a default.
  const startTls = buildConnector({
    allowH2: false,
    rejectUnauthorized: true,
    timeout: timeoutMs,
    ...(ca === undefined ? {} : { ca }),
  });
  return (target, callback) => {
    const fail = (error: Error): void => callback(connectFailed(error), null);
    const secured: buildConnector.Callback = (error, socket) =>
      error === null ? callback(null, socket) : fail(error);
    openSocket(targetOf(target), { policy, guard, outside, timeoutMs }).then(
      (socket) => {
        if (target.protocol === 'https:') startTls({ ...target, httpSocket: socket }, secured);
        else callback(null, socket);
      },
      (error: unknown) => fail(error instanceof Error ? error : new Error(String(error))),
    );
  };
}

function targetOf({ protocol, hostname, port }: buildConnector.Options): SocketTarget {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  return { hostname, url: new URL(`${protocol}//${host}${port && `:${port}`}`) };
}

export interface SocketTarget {
  /** An IPv6 address stands without brackets. */
  readonly hostname: string;
  /** The same, as the rules of egress look at it. */
  readonly url: URL;
}

export interface SocketRules {
  readonly policy: EgressPolicy;
  readonly guard: AddressGuard;
  readonly outside: Outside;
  readonly timeoutMs: number;
}

/** A TCP connection that is past every check. Rejects with a refusal of the policy, or with whatever went wrong. */
export async function openSocket(
  { hostname, url }: SocketTarget,
  { policy, guard, outside, timeoutMs }: SocketRules,
): Promise<Socket> {
  const fault = egressFault(policy, url);
  if (fault !== undefined) throw egressDenied(`${url.host} is not among the allowed ${fault}s`);
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new Error(`No connection to ${url.host} within ${timeoutMs} ms.`)),
    timeoutMs,
  );
  try {
    const addresses = await withSignal(checkedAddresses(hostname, guard, outside), timeout.signal);
    const socket = await connected(outside.dial(hostname, addresses, portOf(url)), timeout.signal);
    return checkedSocket(socket, hostname, guard);
  } finally {
    clearTimeout(timer);
  }
}

/** One bad answer among good ones refuses the name: which of them is used is not ours to choose. */
export async function checkedAddresses(
  hostname: string,
  guard: AddressGuard,
  outside: Outside,
): Promise<readonly string[]> {
  const addresses = isIP(hostname) === 0 ? await outside.resolve(hostname) : [hostname];
  if (addresses.length === 0) throw new Error(`${hostname} has no address.`);
  for (const address of addresses) {
    const why = guard.refusal(address);
    if (why !== undefined) throw egressDenied(`${hostname}: ${why}`);
  }
  return addresses;
}

/** Before a byte is written: TLS begins after this. */
function checkedSocket(socket: Socket, hostname: string, guard: AddressGuard): Socket {
  const why = guard.refusal(socket.remoteAddress ?? '');
  if (why === undefined) return socket.setNoDelay(true).setKeepAlive(true, 60_000);
  socket.destroy();
  throw egressDenied(`${hostname}: connected elsewhere, ${why}`);
}

function connected(socket: Socket, signal: AbortSignal): Promise<Socket> {
  return new Promise<Socket>((resolve, reject) => {
    const onAbort = (): void => {
      socket.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // The listener stays: from here to the first request nobody else might be listening.
    socket.on('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    });
  });
}

function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
