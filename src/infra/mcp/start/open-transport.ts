// What stands between the SDK's client and a server: the transport, started where it has to be, behind the guard.
import type * as SdkModule from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/client';
import type { McpServerSettings, McpStdioSettings } from '../../../ports/egress/mcp-servers.ts';
import type { SpawnRequest } from '../../../ports/egress/process-spawner.ts';
import type { SessionNeeds } from '../session-needs.ts';
import { httpTransport } from '../transport/http-transport.ts';
import { MessageGuard, StdioGuard, type GuardOptions } from '../transport/message-guard.ts';
import { oldTransport } from '../transport/old-transport.ts';
import { ProtocolViolationBudget } from '../transport/protocol-violation-budget.ts';
import { StdioTransport } from '../transport/stdio-transport.ts';
import { ServerOutput } from './server-output.ts';
import { startFailure } from './start-failure.ts';

type Sdk = typeof SdkModule;

export interface Guarded {
  readonly guard: MessageGuard;
  /** With what the server last said of itself, which is mostly why it did not start. To be asked once the guard is closed. */
  readonly explained: (error: unknown) => Promise<unknown>;
}

export function guarded(
  sdk: Sdk,
  settings: McpServerSettings,
  needs: SessionNeeds,
  way: 'current' | 'old',
): Guarded {
  const { clock, log, metrics, random, http, scrubber } = needs;
  const options = (inner: Transport): GuardOptions => ({
    inner,
    budget: new ProtocolViolationBudget(clock),
    onViolation: (kind) => metrics.violations.with(kind).add(),
  });
  if (settings.kind === 'http') {
    const inner = (way === 'old' ? oldTransport : httpTransport)(sdk, settings, {
      http,
      clock,
      random,
      onRefused: (id, failure) => (id === undefined ? guard.breakOff(failure) : guard.fail(id, failure)),
      onGarbage: () => guard.countViolation('garbage'),
    });
    const guard = new MessageGuard(options(inner));
    return { guard, explained: (error) => Promise.resolve(error) };
  }
  const output = new ServerOutput(log, clock, scrubber);
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
  return { guard, explained: async (error) => startFailure(error, await output.lastLines(), settings) };
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
