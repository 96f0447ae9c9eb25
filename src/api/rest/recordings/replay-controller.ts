// A replay by REST: what it was asked for, and beginning it anew.
import { Controller, Inject } from '@nestjs/common';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ReplayReport as Report, ReplayTape } from '../../../ports/recordings.ts';
import { REPLAY_TAPE } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import { Serves } from '../route/serves.ts';
import type { WireOf } from '../route/shapes.ts';
import { getReplay, rewindReplay, type ReplayReport } from './schema.ts';

@Controller()
export class ReplayController {
  constructor(@Inject(REPLAY_TAPE) private readonly tape: { readonly tape: ReplayTape | undefined }) {}

  @Serves(getReplay)
  @Requires(PLATFORM)
  report() {
    return wireReport(this.#tape().report());
  }

  /** Says how it went, and begins anew. */
  @Serves(rewindReplay)
  @Requires(PLATFORM)
  @Recorded('replay.rewind')
  rewind() {
    const tape = this.#tape();
    const before = tape.report();
    tape.rewind();
    return wireReport(before);
  }

  #tape(): ReplayTape {
    const { tape } = this.tape;
    if (tape !== undefined) return tape;
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
