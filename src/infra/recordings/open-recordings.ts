// Opens what records and what replays, as the settings say it.
import { join } from 'node:path';
import { parseDuration } from '../../lib/text/duration.ts';
import type { Recordings, ReplaySource } from '../../ports/recordings.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { FileRecordings, sealPath, type RecordingsDeps } from './file-recordings.ts';
import { readRecordingFile } from './read-recording.ts';
import { FileReplaySource } from './file-replay-source.ts';
import { FileSeal } from './seal-key.ts';

export interface OpenedRecordings {
  readonly recordings: Recordings;
  readonly replaySource: ReplaySource | undefined;
}

/** Rejects with a sentence for the operator: a recording that cannot be read answers nothing, and the gateway does not start. */
export async function openRecordings(settings: Settings, deps: RecordingsDeps): Promise<OpenedRecordings> {
  const folder = join(settings.own_dir, 'recordings');
  const replaySource = await openReplaySource(settings, folder);
  if (replaySource !== undefined) warnAboutState(settings, deps);
  const { enabled, max_total_bytes: maxTotalBytes, start } = settings.recording;
  const recordings = await FileRecordings.open(folder, { enabled, maxTotalBytes }, deps);
  const stamp = new Date(deps.clock.wall()).toISOString().replaceAll(/[-:]|\..*/g, '');
  for (const each of enabled ? start : []) {
    await recordings.start({
      name: `${each.name}-${stamp}Z`,
      tenantId: each.tenant_id,
      sessionId: each.session_id,
      tools: each.tools,
      maxCalls: each.max_calls,
      maxBytes: each.max_bytes,
      ttlMs: parseDuration(each.ttl) ?? 0,
    });
  }
  return { recordings, replaySource };
}

async function openReplaySource({ replay }: Settings, folder: string): Promise<ReplaySource | undefined> {
  if (replay === undefined) return undefined;
  const { file, on_miss: onMiss, on_repeat: onRepeat, on_changed: onChanged } = replay;
  const recording = await readRecordingFile(file);
  return new FileReplaySource(
    file,
    recording,
    { onMiss, onRepeat, onChanged },
    new FileSeal(sealPath(folder)),
  );
}

/** Approvals and records are made in earnest: they belong into a place of the replay's own. */
function warnAboutState({ replay, database, redis }: Settings, { log }: RecordingsDeps): void {
  const shared = [database.url && 'database.url', redis.url && 'redis.url'].filter(
    (each) => each !== undefined,
  );
  log.warn({ file: replay?.file, on_miss: replay?.on_miss }, 'this gateway answers from a recording');
  if (shared.length > 0)
    log.warn({ shared }, 'a replay writes approvals, call records and audit: give it stores of its own');
}
