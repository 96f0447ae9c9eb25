// Sessions for tests: a record, and a store of them that can be away or hang.
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import type {
  SessionRecord,
  SessionStore,
  SessionUse,
  ToolHashes,
} from '../../src/ports/sessions/session-store.ts';

export function sessionOf(changes: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: 'ses_01a1fdea-b5f6-7000-b37d-6e9df3cc0263',
    tenantId: 'acme',
    principalId: 'key00001',
    agentId: 'desk',
    userId: 'ann',
    mode: null,
    registryVersion: '1.0.00000000',
    registryHash: '0'.repeat(64),
    turn: 1,
    idleMs: 3_600_000,
    createdAt: new Date(0),
    lastUsedAt: new Date(0),
    expiresAt: new Date(86_400_000),
    overAt: new Date(3_600_000),
    leftMs: 3_600_000,
    endedAt: null,
    endedBy: null,
    ...changes,
  };
}

export class FakeSessions implements Pick<SessionStore, 'find' | 'touch' | 'toolsOf'> {
  readonly asked: (readonly string[])[] = [];
  readonly touched: (readonly string[])[] = [];
  readonly sets = new Map<string, ToolHashes>();
  readonly #records = new Map<string, SessionRecord>();
  away = false;
  #hangs = false;

  add(record: SessionRecord): void {
    this.#records.set(record.id, record);
  }

  /** From now on nothing is answered any more. */
  hang(): void {
    this.#hangs = true;
  }

  find(ids: readonly string[]): Promise<readonly SessionRecord[]> {
    this.asked.push(ids);
    return this.#answer(() => ids.flatMap((id) => this.#records.get(id) ?? []));
  }

  touch(uses: readonly SessionUse[]): Promise<void> {
    this.touched.push(uses.map(({ id }) => id));
    return this.#answer(() => undefined);
  }

  toolsOf(hash: string): Promise<ToolHashes | undefined> {
    return this.#answer(() => this.sets.get(hash));
  }

  #answer<T>(answer: () => T): Promise<T> {
    if (this.#hangs) return new Promise(() => undefined);
    if (!this.away) return Promise.resolve(answer());
    return Promise.reject(new ToolFailure('UNAVAILABLE', 'away', { reason: 'DATABASE_UNAVAILABLE' }));
  }
}
