// One connection to a server from its handshake to its end: transport, guard and SDK client put together.
import { backoffMs, type Backoff } from '../../lib/timers/backoff.ts';
import type * as SdkModule from '@modelcontextprotocol/client';
import type { Client, Transport } from '@modelcontextprotocol/client';
import { secretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import { mcpSecrets } from '../../lib/mcp/mcp-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { McpServerSettings, McpStdioSettings } from '../../ports/egress/mcp-servers.ts';
import type { ProcessSpawner, SpawnRequest } from '../../ports/egress/process-spawner.ts';
import { toolCaller, type CallTool } from './answers/call-tool.ts';
import { connectTimeout } from './failures.ts';
import { httpTransport } from './transport/http-transport.ts';
import type { McpMetrics } from './mcp-metrics.ts';
import { MessageGuard, StdioGuard, type GuardOptions } from './transport/message-guard.ts';
import { ProtocolViolationBudget } from './transport/protocol-violation-budget.ts';
import { failureOf } from './sdk-failures.ts';
import { ServerOutput } from './start/server-output.ts';
import { startFailure } from './start/start-failure.ts';
import type { Packages } from './start/started-from.ts';
import { StdioTransport } from './transport/stdio-transport.ts';

type Sdk = typeof SdkModule;

const CLIENT = { name: 'unified-tool-executor', version: '1' };
/** How long a server on stdio may be silent about the newest protocol before it is taken for an older one. */
const PROBE_MS = 3_000;
const LISTEN_AGAIN: Backoff = { firstMs: 10_000, lastMs: 1_200_000, least: 0.5 };
const MAX_LIST_PAGES = 8;

export interface SessionNeeds {
  readonly spawner: ProcessSpawner;
  readonly packages: Packages;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: McpMetrics;
  readonly random: () => number;
}

export interface Session {
  readonly client: Client;
  readonly callTool: CallTool;
  readonly server: { readonly name: string; readonly version: string };
  readonly protocolVersion: string;
  /** False once it has ended, by whichever side. */
  isOpen(): boolean;
  /** Whether the server answers at all before the signal aborts. */
  isAlive(signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

export interface SessionEvents {
  toolsChanged(): void;
  /** Once, after the handshake, when the server goes. */
  lost(): void;
}

/** Throws ToolFailure, soon where `closing` aborts. Leaves nothing running when it fails. */
export async function connect(
  settings: McpServerSettings,
  needs: SessionNeeds,
  events: SessionEvents,
  closing: AbortSignal,
): Promise<Session> {
  const sdk = await import('@modelcontextprotocol/client');
  const { guard, explained } = guarded(sdk, settings, needs);
  const client = newClient(sdk, settings);
  const { connectTimeoutMs } = settings.limits;
  let [open, settled] = [true, false];
  Object.assign(client, {
    onclose: () => {
      if (open && settled) events.lost();
      open = false;
    },
    onerror: (error: Error) =>
      needs.log.debug({ err: error.message.slice(0, 500) }, 'an MCP connection had an error'),
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => events.toolsChanged());
  const limit = limitOf(guard, needs.clock, connectTimeoutMs, closing);
  try {
    closing.throwIfAborted();
    await client.connect(guard, { timeout: connectTimeoutMs });
  } catch (error) {
    await guard.close().catch(() => undefined);
    throw limit.isLate()
      ? connectTimeout(connectTimeoutMs, explained(undefined))
      : failureOf(explained(error), true);
  } finally {
    limit.end();
  }
  settled = true;
  const close = async () => {
    open = false;
    await client.close().catch(() => undefined);
    await guard.close().catch(() => undefined);
  };
  listenForChanges(client, needs, () => open, events);
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  return {
    client,
    callTool: toolCaller(client, sdk.isSpecType.ContentBlock, settings.kind),
    server: { name, version },
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    isOpen: () => open,
    isAlive: (signal) => guard.probe(signal),
    close,
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

function newClient(sdk: Sdk, settings: McpServerSettings): Client {
  const isAuto = settings.kind === 'http' || settings.protocol === 'auto';
  const probe = settings.kind === 'http' ? {} : { timeoutMs: PROBE_MS };
  return new sdk.Client(CLIENT, {
    // No capabilities: what a server asks of its client (sampling, elicitation, roots) is refused by the SDK.
    capabilities: {},
    versionNegotiation: isAuto ? { mode: 'auto', probe } : { mode: 'legacy' },
    inputRequired: { autoFulfill: false },
    // A schema of the server's is never compiled here: results are checked by the gateway's own guarded validator.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
    listMaxPages: MAX_LIST_PAGES,
  });
}

interface Guarded {
  readonly guard: MessageGuard;
  /** With what the server last said of itself, which is mostly why it did not start. */
  readonly explained: (error: unknown) => unknown;
}

function guarded(sdk: Sdk, settings: McpServerSettings, needs: SessionNeeds): Guarded {
  const { clock, log, metrics, random, http } = needs;
  const options = (inner: Transport): GuardOptions => ({
    inner,
    budget: new ProtocolViolationBudget(clock),
    onViolation: (kind) => metrics.violations.with(kind).add(),
  });
  if (settings.kind === 'http') {
    const inner = httpTransport(sdk, settings, {
      http,
      clock,
      random,
      onRefused: (id, failure) => (id === undefined ? guard.breakOff(failure) : guard.fail(id, failure)),
      onGarbage: () => guard.countViolation('garbage'),
    });
    const guard = new MessageGuard(options(inner));
    return { guard, explained: (error) => error };
  }
  const output = new ServerOutput(log, clock, secretScrubber(mcpSecrets(settings)));
  const inner = new StdioTransport({
    spawn: async () => {
      const child = await needs.spawner.spawn(spawnRequest(settings));
      output.read(child.stderr);
      return child;
    },
    clock,
    maxMessageBytes: settings.limits.maxMessageBytes,
    onGarbage: (line) => {
      output.stray(line);
      guard.countViolation('garbage');
    },
    onRefused: (id, failure) => guard.fail(id, failure),
    onHopeless: (failure) => guard.breakOff(failure),
  });
  const guard = new StdioGuard(options(inner));
  return { guard, explained: (error) => startFailure(error, output.lastLines, settings) };
}

function spawnRequest(settings: McpStdioSettings): SpawnRequest {
  const { argv, cwd, env, sandbox, readable, writable, network, ...limits } = settings;
  const { memoryBytes, maxProcesses, tmpBytes } = limits;
  return {
    argv,
    cwd,
    env,
    channel: false,
    stdin: true,
    ...(sandbox === 'required' && {
      confinement: {
        readable,
        writable,
        network,
        memoryBytes,
        maxProcesses,
        ...(tmpBytes !== undefined && { tmpBytes }),
      },
    }),
  };
}

/** Since 2026-07-28 changes are told only to those who ask for it; older servers tell everybody. */
function listenForChanges(
  client: Client,
  { clock, log, random }: SessionNeeds,
  isOpen: () => boolean,
  events: SessionEvents,
): void {
  if (client.getProtocolEra() !== 'modern' || client.getServerCapabilities()?.tools?.listChanged !== true)
    return;
  const listen = (failures: number): void => {
    const again = (next: number): void => {
      const delay = backoffMs(LISTEN_AGAIN, next, random);
      clock.after(delay, () => {
        if (!isOpen()) return;
        // Nobody tells of what changes in the meantime.
        events.toolsChanged();
        listen(next);
      });
    };
    client.listen({ toolsListChanged: true }).then(
      (subscription) => void subscription.closed.then(() => again(0)),
      (error: unknown) => {
        log.debug({ err: String(error).slice(0, 500) }, 'an MCP server does not tell of changes');
        again(failures + 1);
      },
    );
  };
  listen(0);
}
