// A replay by REST: what it was asked for, and beginning it anew.
import { Controller, Inject } from '@nestjs/common';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ReplayReport as Report, ReplaySource } from '../../../ports/recordings.ts';
import { REPLAY_SOURCE } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import { Serves } from '../route/serves.ts';
import type { WireOf } from '../route/shapes.ts';
import { getReplay, rewindReplay, type ReplayReport } from './schema.ts';

@Controller()
export class ReplayController {
  constructor(
    @Inject(REPLAY_SOURCE) private readonly source: { readonly source: ReplaySource | undefined },
  ) {}

  @Serves(getReplay)
  @Requires(PLATFORM)
  report() {
    return wireReport(this.#source().report());
  }

  /** Says how it went, and begins anew. */
  @Serves(rewindReplay)
  @Requires(PLATFORM)
  @Recorded('replay.rewind')
  rewind() {
    const source = this.#source();
    const before = source.report();
    source.rewind();
    return wireReport(before);
  }

  #source(): ReplaySource {
    const { source } = this.source;
    if (source !== undefined) return source;
    throw toolFailure('NO_REPLAY', 'This gateway replays nothing: gateway.yaml has no replay.file.');
  }
}

function wireReport(report: Report): WireOf<typeof ReplayReport> {
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
