// Recordings for tests: the real files in a temp dir, the two extensions around a tool of the test's own.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import type { ToolCall } from '../../src/contract/call/tool-call.ts';
import type { ToolResponse, ToolResult } from '../../src/contract/call/tool-response.ts';
import { refusalOf, successOf } from '../../src/core/settle.ts';
import { recording } from '../../src/extensions/recording/index.ts';
import { replay } from '../../src/extensions/replay/index.ts';
import { FileRecordings, sealPath } from '../../src/infra/recordings/file-recordings.ts';
import { readRecordingFile } from '../../src/infra/recordings/read-recording.ts';
import { FileReplaySource } from '../../src/infra/recordings/file-replay-source.ts';
import { FileSeal } from '../../src/infra/recordings/seal-key.ts';
import type { Recordings, RecordingWish, ReplayRules, ReplaySource } from '../../src/ports/recordings.ts';
import { callOf, outcomeOf, recordingLog, recordingMetrics, through } from './call-kit.ts';
import { FakeClock } from './fake-clock.ts';
import { removeDir } from './temp-tools.ts';

export const RULES: ReplayRules = { onMiss: 'refuse', onRepeat: 'last', onChanged: 'answer' };

export type Tool = (call: ToolCall) => Promise<ToolResult> | ToolResult;

/** For one test: the folder is gone after it. */
export async function openRecordingKit(maxTotalBytes = 1 << 30) {
  const root = mkdtempSync(join(tmpdir(), 'ute-recordings-'));
  onTestFinished(() => removeDir(root));
  const dir = join(root, 'recordings');
  const clock = new FakeClock();
  const log = recordingLog();
  const metrics = recordingMetrics();
  const recordings = await FileRecordings.open(
    dir,
    { enabled: true, maxTotalBytes },
    { clock, log, metrics },
  );
  let ids = 0;
  return {
    dir,
    clock,
    log,
    metrics,
    recordings,
    wish: (changes: Partial<RecordingWish> = {}): RecordingWish => ({
      name: 'test',
      maxCalls: 1_000,
      maxBytes: 16 << 20,
      ttlMs: 60_000,
      ...changes,
    }),
    call: (args: JsonObject, changes: Partial<ToolCall> = {}) =>
      callOf({ id: `call-${(ids += 1)}`, arguments: args, ...changes }),
    pathOf: (name: string) => join(dir, `${name}.jsonl`),
  };
}

/** Makes the call as the recording extension sees it: around whatever runs the tool. */
export function recorded(recordings: Recordings, call: ToolCall, tool: Tool): Promise<ToolResponse> {
  const extension = recording.create({ recordings, clock: new FakeClock(), log: recordingLog() });
  return through(extension, call, (inner) => ran(inner, tool), {});
}

/** Makes the call as the replay extension answers it. */
export function replayed(
  source: ReplaySource,
  call: ToolCall,
  tool: Tool = neverRuns,
): Promise<ToolResponse> {
  const extension = replay.create({ replaySource: source, metrics: recordingMetrics() });
  return outcomeOf(() => through(extension, call, (inner) => ran(inner, tool), {}), call);
}

export async function openReplaySource(
  path: string,
  rules: Partial<ReplayRules> = {},
  sealDir = join(path, '..'),
): Promise<FileReplaySource> {
  return new FileReplaySource(
    path,
    await readRecordingFile(path),
    { ...RULES, ...rules },
    new FileSeal(sealPath(sealDir)),
  );
}

async function ran(call: ToolCall, tool: Tool): Promise<ToolResponse> {
  call.progress.executorEntered = true;
  try {
    return successOf(call, await tool(call), 1 << 20);
  } catch (error) {
    return refusalOf(call, error);
  }
}

function neverRuns(): never {
  throw new Error('a replay ran the tool');
}
