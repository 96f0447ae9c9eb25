// Specs of JsonLinesAuditSink: on a real file, and on a disk that fails on demand.
import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { AuditRecord } from '../../ports/audit-sink.ts';
import { PrometheusMetrics } from '../telemetry/prometheus-metrics.ts';
import type { AuditFile } from './audit-file.ts';
import { auditLine } from './audit-line.ts';
import { JsonLinesAuditSink, type AuditSinkOptions } from './json-lines-audit-sink.ts';

const DOWN = { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE' };

describe('auditLine', () => {
  it('writes every field in snake_case, and a line break inside a value as an escape', () => {
    const line = auditLine({
      ...record('c1'),
      requestedTool: 'a\n{"call_id":"forged"}',
      notes: { why: ['x'] },
    });
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(JSON.parse(line)).toEqual({
      at: '2026-01-01T00:00:00.000Z',
      call_id: 'c1',
      door: 'rest',
      principal: 'key-1',
      tenant: 'acme',
      agent: 'agent-1',
      user: 'user-1',
      session: 'session-1',
      requested_tool: 'a\n{"call_id":"forged"}',
      tool: 'calculate_sum',
      tool_version: '1.0.0',
      executor: 'python',
      outcome: 'ok',
      reason: '',
      arguments_hash: 'hash',
      attempts: 1,
      duration_ms: 3.5,
      partial_side_effects: false,
      registry_version: '1.0.abc123de',
      trace_id: '',
      notes: { why: ['x'] },
    });
  });
});

describe('JsonLinesAuditSink on a real file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ute-audit-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('makes its folder and file for its owner only, and adds to what is there', async () => {
    const path = join(folder, 'audit', 'calls.jsonl');
    for (const id of ['c1', 'c2']) {
      const { sink } = await opened({ path });
      sink.write(record(id));
      await sink.close();
    }
    expect(await readFile(path, 'utf8')).toBe(auditLine(record('c1')) + auditLine(record('c2')));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'audit'))).mode & 0o777).toBe(0o700);
  });

  it('does not glue its first record to a line that a killed process left unfinished', async () => {
    const path = join(folder, 'calls.jsonl');
    await appendFile(path, '{"call_id":"cut o');
    const { sink } = await opened({ path });
    sink.write(record('c1'));
    await sink.close();
    expect(await readFile(path, 'utf8')).toBe(`{"call_id":"cut o\n${auditLine(record('c1'))}`);
  });

  it('does not open where it cannot write', async () => {
    await appendFile(join(folder, 'file'), '');
    await expect(opened({ path: join(folder, 'file', 'calls.jsonl') })).rejects.toThrow('EEXIST');
  });
});

describe('JsonLinesAuditSink', () => {
  it('has a record in the file 10 ms after it was accepted, together with its neighbours', async () => {
    const { sink, clock, disk } = await onFakeDisk();
    sink.write(record('c1'));
    await clock.advance(4);
    sink.write(record('c2'));
    await clock.advance(5);
    expect(disk.text).toBe('');
    await clock.advance(1);
    expect(disk.text).toBe(linesOf('c1', 'c2'));
    expect(disk.appends).toBe(1);
  });

  it('does not wait when much has gathered', async () => {
    const { sink, disk } = await onFakeDisk();
    for (let index = 0; index < 200; index += 1) sink.write(record(`c${index}`));
    await settled();
    expect(disk.text.length).toBeGreaterThan(64 * 1024);
  });

  it('refuses records while the disk fails, writes those accepted before, and recovers by itself', async () => {
    const { sink, clock, disk, counted } = await onFakeDisk();
    sink.write(record('c1'));
    disk.fail(3);
    await clock.advance(10);
    expect(() => sink.check()).toThrow(expect.objectContaining({ ...DOWN, cause: new Error('disk failed') }));
    expect(() => sink.write(record('c2'))).toThrow(expect.objectContaining(DOWN));
    await clock.advance(100 + 200 + 400);
    sink.check();
    sink.write(record('c3'));
    await sink.flush();
    expect(disk.text).toBe(linesOf('c1', 'c3'));
    expect(await counted()).toEqual({ accepted: 2, dropped: 1 });
  });

  it('goes on in the middle of a line after a partial write, without a half or a double', async () => {
    const { sink, clock, disk } = await onFakeDisk();
    for (const id of ['c1', 'c2', 'c3']) sink.write(record(id));
    disk.acceptOnly(600);
    disk.fail(1);
    await clock.advance(10);
    expect(disk.text).toHaveLength(600);
    await clock.advance(100);
    expect(disk.text).toBe(linesOf('c1', 'c2', 'c3'));
  });

  it.each([
    { found: 'nothing in it', text: '', expected: '' },
    { found: 'an unfinished line in it', text: '{"at":"20', expected: '{"at":"20\n' },
  ])('writes a line again as a whole into a new file with $found', async ({ text, expected }) => {
    const maxBufferedBytes = linesOf('c1', 'c2', 'c3').length;
    const allButOneByteOfTwo = linesOf('c1', 'c2').length - 1;
    const { sink, clock, disk } = await onFakeDisk({ maxBufferedBytes });
    for (const id of ['c1', 'c2', 'c3']) sink.write(record(id));
    disk.acceptOnly(allButOneByteOfTwo);
    disk.fail(1);
    await clock.advance(10);
    disk.rotate(text);
    await clock.advance(100);
    expect(disk.text).toBe(expected + linesOf('c2', 'c3'));
    for (const id of ['c4', 'c5', 'c6']) sink.write(record(id));
    expect(() => sink.write(record('c'))).toThrow(expect.objectContaining(DOWN));
  });

  it('writes in a next group what came while the disk was busy', async () => {
    const { sink, clock, disk } = await onFakeDisk();
    const finish = disk.stall();
    sink.write(record('c1'));
    await clock.advance(10);
    sink.write(record('c2'));
    await clock.advance(1000);
    expect(disk.appends).toBe(1);
    finish();
    await clock.advance(10);
    expect(disk.text).toBe(linesOf('c1', 'c2'));
  });

  it('ends a stray beginning of a line that was written but never confirmed', async () => {
    const { sink, clock, disk } = await onFakeDisk();
    sink.write(record('c1'));
    disk.fail(1, '{"at":"20');
    await clock.advance(110);
    expect(disk.text).toBe(`{"at":"20\n${linesOf('c1')}`);
  });

  it('refuses a record beyond its bound, and new calls from half of it on', async () => {
    const size = auditLine(record('c1')).length;
    const { sink, disk, clock } = await onFakeDisk({ maxBufferedBytes: size * 4 });
    for (let index = 1; index <= 3; index += 1) sink.write(record(`c${index}`));
    expect(() => sink.check()).toThrow(expect.objectContaining(DOWN));
    sink.write(record('c4'));
    expect(() => sink.write(record('c5'))).toThrow(expect.objectContaining(DOWN));
    await clock.advance(10);
    sink.check();
    expect(disk.text).toBe(linesOf('c1', 'c2', 'c3', 'c4'));
  });

  it('says so when it cannot flush or close without loss', async () => {
    const { sink, disk, counted } = await onFakeDisk();
    sink.write(record('c1'));
    disk.fail(2);
    await expect(sink.flush()).rejects.toMatchObject(DOWN);
    await expect(sink.close()).rejects.toThrow('1 audit records could not be written to calls.jsonl');
    expect(await counted()).toEqual({ accepted: 1, dropped: 1 });
  });

  it('writes everything and syncs on closing, accepts nothing afterwards, and leaves no timer', async () => {
    const { sink, disk, clock } = await onFakeDisk();
    sink.write(record('c1'));
    await sink.close();
    await sink.close();
    expect(disk.log.slice(-2)).toEqual(['sync', 'close']);
    expect(disk.text).toBe(linesOf('c1'));
    expect(() => sink.write(record('c2'))).toThrow(expect.objectContaining(DOWN));
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps every accepted record once and in order, through any faults of the disk', async () => {
    const anyStep = fc.oneof(
      { weight: 4, arbitrary: fc.constant('write' as const) },
      { weight: 2, arbitrary: fc.record({ waitMs: fc.integer({ min: 0, max: 700 }) }) },
      { weight: 1, arbitrary: fc.record({ failures: fc.integer({ min: 1, max: 3 }) }) },
      { weight: 1, arbitrary: fc.record({ partial: fc.integer({ min: 1, max: 2000 }) }) },
      { weight: 1, arbitrary: fc.constant('refuse_open' as const) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
        const { sink, clock, disk } = await onFakeDisk({ maxBufferedBytes: 4000 });
        const accepted: string[] = [];
        for (const [index, step] of steps.entries()) {
          if (step === 'write' && isAccepted(sink, record(`c${index}`))) accepted.push(`c${index}`);
          if (step === 'refuse_open') disk.refuseOpen(1);
          if (typeof step === 'object' && 'waitMs' in step) await clock.advance(step.waitMs);
          if (typeof step === 'object' && 'failures' in step) disk.fail(step.failures);
          if (typeof step === 'object' && 'partial' in step) disk.acceptOnly(step.partial);
        }
        disk.heal();
        await clock.advance(10_000);
        sink.check();
        expect(disk.text).toBe(linesOf(...accepted));
        await sink.close();
      }),
      { numRuns: 200 },
    );
  });
});

function isAccepted(sink: JsonLinesAuditSink, audited: AuditRecord): boolean {
  try {
    sink.write(audited);
    return true;
  } catch {
    return false;
  }
}

async function opened(options: Partial<AuditSinkOptions>) {
  const clock = new FakeClock();
  const metrics = new PrometheusMetrics();
  const sink = await JsonLinesAuditSink.open({ path: 'calls.jsonl', clock, metrics, ...options });
  const counted = async () => {
    const { text } = await metrics.exposition();
    const valueOf = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
    return { accepted: valueOf('ute_audit_records_total'), dropped: valueOf('ute_audit_dropped_total') };
  };
  return { sink, clock, counted };
}

async function onFakeDisk(options: Partial<AuditSinkOptions> = {}) {
  const disk = new FakeDisk();
  return { disk, ...(await opened({ openFile: async () => disk.open(), ...options })) };
}

/** One path on a disk that fails on demand. Characters are bytes: the records here are ASCII. */
class FakeDisk {
  text = '';
  appends = 0;
  readonly log: string[] = [];
  #inode = 1;
  #busy = Promise.resolve();
  #failures = 0;
  #strayBytes = '';
  #openFailures = 0;
  #acceptOnly = Number.POSITIVE_INFINITY;

  /** The next appends fail; `stray` bytes arrive all the same. */
  fail(times: number, stray = ''): void {
    this.#failures = times;
    this.#strayBytes = stray;
  }

  refuseOpen(times: number): void {
    this.#openFailures = times;
  }

  /** The next append takes this many bytes only, and only then do the failures begin. */
  acceptOnly(bytes: number): void {
    this.#acceptOnly = bytes;
  }

  heal(): void {
    this.#failures = 0;
    this.#openFailures = 0;
    this.#acceptOnly = Number.POSITIVE_INFINITY;
  }

  /** Another file has taken the path. */
  rotate(text: string): void {
    this.#inode += 1;
    this.text = text;
  }

  /** Appends take until the returned function is called. */
  stall(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#busy = promise;
    return resolve;
  }

  open(): AuditFile {
    if (this.#openFailures > 0) {
      this.#openFailures -= 1;
      throw new Error('disk refused to open');
    }
    return {
      identity: `${this.#inode}`,
      endsInsideLine: this.text !== '' && !this.text.endsWith('\n'),
      append: async (bytes) => this.#append(Buffer.from(bytes).toString('latin1')),
      sync: async () => void this.log.push('sync'),
      close: async () => void this.log.push('close'),
    };
  }

  async #append(text: string): Promise<number> {
    this.appends += 1;
    await this.#busy;
    const taken = Math.min(text.length, this.#acceptOnly);
    if (this.#acceptOnly === Number.POSITIVE_INFINITY && this.#failures > 0) {
      this.#failures -= 1;
      this.text += this.#strayBytes;
      throw new Error('disk failed');
    }
    this.#acceptOnly = Number.POSITIVE_INFINITY;
    this.text += text.slice(0, taken);
    return taken;
  }
}

function linesOf(...ids: string[]): string {
  return ids.map((id) => auditLine(record(id))).join('');
}

function record(callId: string): AuditRecord {
  return {
    at: '2026-01-01T00:00:00.000Z',
    callId,
    door: 'rest',
    principal: 'key-1',
    tenant: 'acme',
    agent: 'agent-1',
    user: 'user-1',
    session: 'session-1',
    requestedTool: 'calculate_sum',
    tool: 'calculate_sum',
    toolVersion: '1.0.0',
    executor: 'python',
    outcome: 'ok',
    reason: '',
    argumentsHash: 'hash',
    attempts: 1,
    durationMs: 3.5,
    partialSideEffects: false,
    registryVersion: '1.0.abc123de',
    traceId: '',
  };
}
