// Every registered extension, held to what its onFailure says: a defect of its own refuses the call, or the call goes on without it.
import { describe, expect, it } from 'vitest';
import type { CallRules } from '../../src/contract/rules/call-rules.ts';
import type { ToolCall } from '../../src/contract/call/tool-call.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import type { ToolResponse } from '../../src/contract/call/tool-response.ts';
import { buildPipeline } from '../../src/core/pipeline/build-pipeline.ts';
import { refusalOf } from '../../src/core/settle.ts';
import { REQUEST_EXTENSIONS, TOOL_EXTENSIONS, type AnyExtensionPlugin } from '../../src/extensions/index.ts';
import type { Ports } from '../../src/ports/ports.ts';
import {
  callOf,
  echoNext,
  functionOf,
  layerFor,
  namedLayer,
  principalOf,
  recordingLog,
} from '../helpers/call-kit.ts';

/** A tool that every extension has something to do for. */
const BUSY = functionOf({
  metadata: { readOnly: true, permissions: ['notes:read'], requiresApproval: true },
  extensions: {
    cache: { ttl_ms: 1000 },
    fallback: { message: 'Later.' },
    'argument-guard': { rules: [{ detect: 'email', action: 'mask' }] },
    'result-guard': { rules: [{ detect: 'email', action: 'mask' }] },
    'untrusted-result': { mark: true },
    policy: { tool_rules: [{ name: 'spoken', when: 'context.mode == "voice"', decision: 'deny' }] },
  },
  rateLimits: [
    { per: 'tenant', rate: 1, periodMs: 1000, burst: 1, onStoreFailure: 'local', mode: 'enforce' },
  ],
});

/** The same without what keeps a cache away. */
const CACHED = functionOf({ metadata: { readOnly: true }, extensions: { cache: { ttl_ms: 1000 } } });

/** What only gateway.yaml says. */
const OF_GATEWAY: Readonly<Record<string, object>> = {
  chaining: { rules: [{ name: 'order', tools: ['*'], after: ['look'] }] },
};

/** Every call of the mode is looked at. */
const CALL_RULES: CallRules = { modes: new Map([['voice', { mode: 'voice', softMs: 1 }]]) };

/** Ports that are whatever is asked of them while an extension is made, and throw at everything afterwards. */
function breakingPorts() {
  const state = { broken: false };
  const anything: unknown = new Proxy(() => undefined, {
    get(_target, name) {
      if (state.broken) throw new Error('a defect');
      if (name === 'callRules') return CALL_RULES;
      return name === 'then' ? undefined : anything;
    },
    apply() {
      if (state.broken) throw new Error('a defect');
      return anything;
    },
  });
  return { ports: anything as Ports, breakAll: () => void (state.broken = true) };
}

/** What the core itself reads of a call's context, and of its request, to write an answer's meta. */
const READ_BY_CORE: ReadonlySet<PropertyKey> = new Set(['sessionId', 'dryRun', 'providerCallId']);

/** A call at which whatever looks closer than the core does trips. */
function trappedCall(): ToolCall {
  const trap = (): never => {
    throw new TypeError('a defect');
  };
  const trapped = () =>
    new Proxy({}, { get: (_target, name) => (READ_BY_CORE.has(name) ? undefined : trap()) });
  const permissions = new Proxy(new Set<string>(), { get: trap });
  const call = callOf({ function: BUSY, context: trapped(), principal: principalOf({ permissions }) });
  Object.defineProperty(call, 'arguments', { get: trap, enumerable: true });
  Object.defineProperty(call, 'request', { value: trapped(), enumerable: true });
  // For one that does nothing but set it.
  Object.defineProperty(call.progress, 'untrusted', { get: () => undefined, set: trap });
  return call;
}

function optionsOf(plugin: AnyExtensionPlugin): unknown {
  return plugin.optionsSchema.parse(BUSY.spec.extensions[plugin.name] ?? OF_GATEWAY[plugin.name] ?? {});
}

/** What becomes of a call that meets a defect of the extension, where its inside answers or refuses. */
async function outcomeOf(plugin: AnyExtensionPlugin, refuses: boolean) {
  const { ports, breakAll } = breakingPorts();
  const extension = plugin.create(ports);
  const layer = layerFor(extension, plugin.name === 'cache' ? CACHED : BUSY, optionsOf(plugin));
  if (layer === undefined) throw new Error(`${plugin.name} prepares nothing for the suite's tool`);
  breakAll();
  const log = recordingLog();
  let ran = 0;
  const inside = async (call: ToolCall): Promise<ToolResponse> => {
    ran += 1;
    if (refuses) return refusalOf(call, new ToolFailure('UNAVAILABLE', 'Away.', { reason: 'AWAY' }));
    return echoNext().next({ ...callOf(), arguments: { answered: true } });
  };
  const { onFailure } = extension;
  const chain = buildPipeline([namedLayer(plugin.name, layer, { onFailure })], inside, log);
  const response = await chain(trappedCall());
  const crashed = log.lines.filter(({ message }) => message === 'extension crashed');
  const said = response.ok ? response.data : [response.error.type, response.error.reason];
  return { onFailure, end: { said, ran }, crashed: crashed.map(({ fields }) => fields['extension']) };
}

const REFUSED = { said: ['INTERNAL', 'EXTENSION_FAILED'], ran: 0 };
/** Where the inside answers, and where it refuses. */
const EXPECTED = {
  deny: [REFUSED, REFUSED],
  continue: [
    { said: { answered: true }, ran: 1 },
    { said: ['UNAVAILABLE', 'AWAY'], ran: 1 },
  ],
};

describe.each([...REQUEST_EXTENSIONS, ...TOOL_EXTENSIONS])('extension: $name', (plugin) => {
  it('does with a call what its onFailure says when it has a defect, and never runs the inside twice', async () => {
    const outcomes = await Promise.all([outcomeOf(plugin, false), outcomeOf(plugin, true)]);
    // One that only looks at refusals has none to trip over in an answer.
    expect(outcomes.flatMap(({ crashed }) => crashed)).toContain(plugin.name);
    const [{ onFailure }] = outcomes;
    expect(outcomes.map(({ end }) => end)).toEqual(EXPECTED[onFailure]);
  });
});
