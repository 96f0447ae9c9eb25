// One connection to a server from its handshake to its end: transport, guard and SDK client put together.
import type * as SdkModule from '@modelcontextprotocol/client';
import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../../ports/clock.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { McpServerSettings } from '../../ports/egress/mcp-servers.ts';
import { toolCaller, type ToolCaller } from './answers/call-tool.ts';
import { readAsked, readLog } from './answers/read-asked.ts';
import { connectTimeout } from './failures.ts';
import { listenForChanges } from './listen-for-changes.ts';
import type { SessionEvents, SessionNeeds } from './session-needs.ts';
import { guarded } from './start/open-transport.ts';
import type { MessageGuard } from './transport/message-guard.ts';
import { failureOf, sessionSign } from './sdk-failures.ts';

type Sdk = typeof SdkModule;

const CLIENT = { name: 'unified-tool-executor', version: '1' };
/** How long a server on stdio may be silent about the newest protocol before it is taken for an older one. */
const PROBE_MS = 3_000;
const MAX_LIST_PAGES = 8;

export interface Session {
  readonly client: Client;
  readonly caller: ToolCaller;
  readonly server: { readonly name: string; readonly version: string };
  readonly protocolVersion: string;
  /** False once it has ended, by whichever side. */
  isOpen(): boolean;
  /** Whether this failure means that the server does not know the session any more; asks it where that is not certain. */
  hasForgotten(failure: unknown, signal: AbortSignal): Promise<boolean>;
  /** Whether the server answers at all before the signal aborts. */
  isAlive(signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

/** A server of before 2025-03-26 answers a message to its stream so. */
const NOT_THERE: ReadonlySet<unknown> = new Set([400, 404, 405, 406]);

/** Throws ToolFailure, soon where `closing` aborts. Leaves nothing running when it fails. */
export async function connect(
  settings: McpServerSettings,
  needs: SessionNeeds,
  events: SessionEvents,
  closing: AbortSignal,
): Promise<Session> {
  try {
    return await connectBy('current', settings, needs, events, closing);
  } catch (error) {
    const { status } = error instanceof ToolFailure ? (error.details ?? {}) : {};
    if (settings.kind === 'stdio' || !NOT_THERE.has(status)) throw error;
    const old = await connectBy('old', settings, needs, events, closing).catch(() => undefined);
    if (old === undefined) throw error;
    return old;
  }
}

type Way = 'current' | 'old';

async function connectBy(
  way: Way,
  settings: McpServerSettings,
  needs: SessionNeeds,
  events: SessionEvents,
  closing: AbortSignal,
): Promise<Session> {
  const sdk = await import('@modelcontextprotocol/client');
  const { guard, explained } = guarded(sdk, settings, needs, way);
  const client = newClient(sdk, settings, way);
  const { connectTimeoutMs } = settings.limits;
  const state = { isOpen: true, isSettled: false };
  Object.assign(client, {
    onclose: () => {
      if (state.isOpen && state.isSettled) events.lost();
      state.isOpen = false;
    },
  });
  hear(client, events, needs);
  const limit = limitOf(guard, needs.clock, connectTimeoutMs, closing);
  try {
    closing.throwIfAborted();
    await client.connect(guard, { timeout: connectTimeoutMs });
  } catch (error) {
    await guard.close().catch(() => undefined);
    if (limit.isLate()) throw connectTimeout(connectTimeoutMs, await explained(undefined));
    throw failureOf(await explained(error), true, needs.scrubber);
  } finally {
    limit.end();
  }
  state.isSettled = true;
  listenForChanges(client, needs, () => state.isOpen, events);
  wantLogs(client);
  const isOpen = () => state.isOpen;
  return {
    ...sessionOf(client, guard, settings, isOpen),
    caller: toolCaller({
      client,
      clock: needs.clock,
      isBlock: sdk.isSpecType.ContentBlock,
      transport: settings.kind,
      scrubber: needs.scrubber,
    }),
    isOpen,
    close: () => {
      state.isOpen = false;
      return closeBoth(client, guard);
    },
  };
}

async function closeBoth(client: Client, guard: MessageGuard): Promise<void> {
  await client.close().catch(() => undefined);
  await guard.close().catch(() => undefined);
}

/** Before 2026-07-28 a server is told once what it is to tell. */
function wantLogs(client: Client): void {
  if (client.getProtocolEra() !== 'legacy' || client.getServerCapabilities()?.logging === undefined) return;
  client.setLoggingLevel('info', { timeout: PROBE_MS }).catch(() => undefined);
}

/** What the server says without being asked. */
function hear(client: Client, events: SessionEvents, { log, scrubber }: SessionNeeds): void {
  Object.assign(client, {
    onerror: (error: Error) =>
      log.debug({ err: scrubber.cut(error.message, 500) }, 'an MCP connection had an error'),
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => events.toolsChanged());
  client.setNotificationHandler('notifications/message', ({ params }) =>
    events.logged(readLog(params, scrubber)),
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    const asked = readAsked(params, scrubber);
    if (asked !== undefined) events.asked(asked);
    return { action: 'cancel' };
  });
}

function sessionOf(
  client: Client,
  guard: MessageGuard,
  { kind }: McpServerSettings,
  isOpen: () => boolean,
): Omit<Session, 'caller' | 'isOpen' | 'close'> {
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  return {
    client,
    server: { name, version },
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    isAlive: (signal) => guard.probe(signal),
    hasForgotten: async (failure, signal) => {
      const sign = kind === 'http' ? sessionSign(failure) : undefined;
      if (sign !== 'perhaps' || guard.sessionId === undefined) return sign === 'gone';
      try {
        if (isOpen()) await client.ping({ signal, timeout: PROBE_MS });
      } catch (again) {
        if (sessionSign(again) !== undefined) return true;
      }
      // Closed: another call has found out already.
      return !isOpen();
    },
  };
}

/** What is on its way is cut off when its time is over, and when nobody wants it any more. */
function limitOf(guard: MessageGuard, clock: Clock, ms: number, closing: AbortSignal) {
  let late = false;
  const cut = () => void guard.close().catch(() => undefined);
  const disarm = clock.after(ms, () => {
    late = true;
    cut();
  });
  closing.addEventListener('abort', cut, { once: true });
  const end = () => {
    disarm();
    closing.removeEventListener('abort', cut);
  };
  return { isLate: () => late, end };
}

function newClient(sdk: Sdk, settings: McpServerSettings, way: Way): Client {
  const isAuto = way === 'current' && (settings.kind === 'http' || settings.protocol === 'auto');
  const probe = settings.kind === 'http' ? {} : { timeoutMs: PROBE_MS };
  return new sdk.Client(CLIENT, {
    // What else a server asks of its client (sampling, roots) is refused by the SDK. A question is heard, so that the caller can be
    // told of it, and never answered.
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: isAuto ? { mode: 'auto', probe } : { mode: 'legacy' },
    inputRequired: { autoFulfill: false },
    // A schema of the server's is never compiled here: results are checked by the gateway's own guarded validator.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
    listMaxPages: MAX_LIST_PAGES,
  });
}
