// Recordings and the report of a replay as REST sends them.
import type { RecordingState, ReplayReport } from '../../ports/recordings.ts';

export function wireRecording(state: RecordingState) {
  return {
    name: state.name,
    status: state.ended,
    tenant_id: state.tenantId ?? null,
    session_id: state.sessionId ?? null,
    tools: state.tools ?? null,
    started_at: state.startedAt,
    calls: state.calls,
    missed: state.missed,
    bytes: state.bytes,
  };
}

export function wireReport(report: ReplayReport) {
  return {
    file: report.file,
    recorded: report.recorded,
    asked: report.asked,
    answered: report.answered,
    missed: report.missed,
    not_asked_count: report.notAskedCount,
    not_asked: report.notAsked.map(({ order, tool, argumentsHash }) => ({
      order,
      tool,
      arguments_hash: argumentsHash,
    })),
    not_recorded_count: report.notRecordedCount,
    not_recorded: report.notRecorded.map(({ tool, argumentsHash, times, arguments: args }) => ({
      tool,
      arguments: args,
      arguments_hash: argumentsHash,
      times,
    })),
    definitions_changed: report.definitionsChanged,
  };
}
