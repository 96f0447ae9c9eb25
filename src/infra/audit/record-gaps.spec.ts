// Specs of RecordGaps.
import { describe, expect, it } from 'vitest';
import { recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { recordCounts } from './record-counts.ts';
import { RecordGaps } from './record-gaps.ts';

function opened() {
  const metrics = recordingMetrics();
  const gaps = new RecordGaps(recordCounts(metrics), new FakeClock());
  const lines: string[] = [];
  /** What the gaps say that are told now, where there is room for so many. */
  const told = (room = Number.POSITIVE_INFINITY) => {
    lines.length = 0;
    gaps.fill((line) => lines.length < room && lines.push(line) > 0);
    return lines.map((line) => {
      const { tenant_id, notes } = JSON.parse(line);
      return [tenant_id ?? '', notes.dropped];
    });
  };
  return { gaps, metrics, told };
}

describe('RecordGaps', () => {
  it('says once of each tenant how many records are missing, whether they were lost or not made', () => {
    const { gaps, metrics, told } = opened();
    gaps.drop('acme');
    gaps.omit('acme');
    gaps.drop('umbrella');
    expect(told()).toEqual([
      ['acme', 2],
      ['umbrella', 1],
    ]);
    expect(told()).toEqual([]);
    expect(metrics.values.get('ute_audit_dropped_total')).toBe(2);
    expect(metrics.values.get('ute_audit_omitted_total')).toBe(1);
  });

  it('keeps what finds no room for the next time, and counts on', () => {
    const { gaps, told } = opened();
    gaps.drop('acme');
    gaps.drop('umbrella');
    expect(told(1)).toEqual([['acme', 1]]);
    gaps.drop('umbrella');
    expect(told()).toEqual([['umbrella', 2]]);
  });

  it('tells a thousand tenants apart, and counts the others together: names that callers make up take no more memory', () => {
    const { gaps, told } = opened();
    for (let name = 0; name < 1_200; name += 1) gaps.drop(`t${name}`);
    const all = told();
    expect(all).toHaveLength(1_001);
    expect(all.at(-1)).toEqual(['', 200]);
  });
});
