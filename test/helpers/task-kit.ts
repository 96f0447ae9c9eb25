// Tasks of the MCP door over a call that is given: who asks, what was answered, and what was asked of the rest of the gateway.
import type { StoredCall } from '../../src/ports/calls/call-store.ts';
import type { Principal } from '../../src/contract/call/principal.ts';
import type { Era } from '../../src/api/mcp/protocol/exchange.ts';
import { Tasks, type TaskAsker } from '../../src/api/mcp/tasks/tasks.ts';
import { principalOf } from './call-kit.ts';

export class AskingClient {
  readonly notified: { readonly method?: string; readonly params?: unknown }[] = [];
  pasted = '';
  /** Its stream ended without an answer. */
  endedWithout = false;
  readonly asker: TaskAsker;
  #gone: () => void = () => undefined;

  constructor(era: Era, { principal = principalOf(), opensUrls = false } = {}) {
    const asked = {
      era,
      principal,
      context: {},
      takesEvents: true,
      environment: { credential: { kind: 'bearer', token: 'x' }, traced: {} },
      approvalsUrl: () => 'https://gateway.example',
    };
    const exchange = {
      asked,
      notify: (message: object) => void this.notified.push(message),
      paste: (text: string) => void (this.pasted += text),
      whenGone: (heard: () => void) => void (this.#gone = heard),
      endWithout: () => void (this.endedWithout = true),
    };
    this.asker = { exchange: exchange as never, opensUrls };
  }

  leave(): void {
    this.#gone();
  }

  methods(): readonly (string | undefined)[] {
    return this.notified.map(({ method }) => method);
  }
}

/** `found` is asked anew each time. */
export function tasksOver(found: () => StoredCall, envelope = '{"ok":true}') {
  const done: string[] = [];
  const tasks = new Tasks({
    calls: {
      get: async () => found(),
      cancel: async (_principal: Principal, id: string) => {
        done.push(`cancel ${id}`);
        return { ...found(), cancelRequested: true };
      },
      envelopeOf: () => envelope,
      approvalShown: async (_principal: Principal, id: string) => void done.push(`shown ${id}`),
    },
    history: { tasks: async () => ({ rows: [found()], next: undefined }) },
    acts: {
      perform: (_by: object, act: { readonly action: string }, work: () => Promise<unknown>) => {
        done.push(act.action);
        return work();
      },
    } as never,
    keptMs: 60_000,
    write: { hasOutputSchema: () => false },
  });
  return { tasks, done };
}
