// FakeAuditTable: the table of audit records, which fails on demand.
import { settled } from './fake-clock.ts';

/** Rows by event id, as the real table keeps them. */
export class FakeAuditTable {
  readonly rows = new Map<string, Record<string, unknown>>();
  readonly intents: (readonly string[])[] = [];
  down = false;
  hanging = false;
  /** After the commit, the answer is lost. */
  forgetful = false;
  poison: string | undefined;

  async store(lines: Buffer): Promise<void> {
    await settled();
    if (this.down) throw new Error('connection refused');
    if (this.hanging) await new Promise(() => undefined);
    const parsed = lines
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    if (this.poison !== undefined && parsed.some((row) => row['call_id'] === this.poison))
      throw Object.assign(new Error('invalid input'), { code: '22P05' });
    for (const row of parsed) this.rows.set(String(row['event_id']), row);
    if (this.forgetful) throw new Error('connection lost');
  }

  async takeIn(): Promise<void> {
    if (this.down) throw new Error('connection refused');
  }

  async intend(lines: readonly string[]): Promise<void> {
    this.intents.push(lines);
    await this.store(Buffer.from(lines.join('')));
  }

  get calls(): readonly unknown[] {
    return [...this.rows.values()].map((row) => row['call_id']);
  }
}
