// Recordings by REST: begin one, list, end, download and delete them; and what a replay was asked for.
import { Readable } from 'node:stream';
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import {
  RECORDING_NAME,
  type Recordings,
  type ReplayReport,
  type ReplayTape,
} from '../../ports/recordings.ts';
import { AUTHENTICATOR, RECORDINGS, REPLAY_TAPE } from '../tokens.ts';
import { requirePermission } from './management.ts';
import { bodyOf } from './read-call.ts';
import { readRecordingWish } from './read-recording-wish.ts';
import { wireRecording, wireReport } from './wire-recording.ts';

@Controller('v1/admin/recordings')
export class RecordingsController {
  constructor(
    @Inject(RECORDINGS) private readonly recordings: Recordings,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  @Get()
  async list(@Req() request: FastifyRequest) {
    requirePermission(this.authenticator, request, 'admin');
    return { recordings: (await this.recordings.list()).map(wireRecording) };
  }

  @Post()
  @HttpCode(200)
  async start(@Req() request: FastifyRequest) {
    const { tenantId } = requirePermission(this.authenticator, request, 'admin');
    return wireRecording(await this.recordings.start(readRecordingWish(bodyOf(request), tenantId)));
  }

  @Post(':name/stop')
  @HttpCode(200)
  async stop(@Req() request: FastifyRequest, @Param('name') name: string) {
    requirePermission(this.authenticator, request, 'admin');
    return wireRecording(found(await this.recordings.stop(checked(name))));
  }

  @Get(':name')
  async download(@Req() request: FastifyRequest, @Param('name') name: string, @Res() reply: FastifyReply) {
    requirePermission(this.authenticator, request, 'admin');
    const lines = found(await this.recordings.read(checked(name)));
    reply.header('content-type', 'application/jsonl; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="${name}.jsonl"`);
    reply.send(Readable.from(lines));
  }

  @Delete(':name')
  async remove(@Req() request: FastifyRequest, @Param('name') name: string) {
    requirePermission(this.authenticator, request, 'admin');
    if (!(await this.recordings.remove(checked(name)))) throw noRecording();
    return { name, deleted: true };
  }
}

@Controller('v1/admin/replay')
export class ReplayController {
  constructor(
    @Inject(REPLAY_TAPE) private readonly tape: { readonly tape: ReplayTape | undefined },
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  @Get()
  report(@Req() request: FastifyRequest) {
    return wireReport(this.#reportFor(request, (tape) => tape.report()));
  }

  /** Says how it went, and begins anew. */
  @Post('rewind')
  @HttpCode(200)
  rewind(@Req() request: FastifyRequest) {
    const report = this.#reportFor(request, (tape) => {
      const before = tape.report();
      tape.rewind();
      return before;
    });
    return wireReport(report);
  }

  #reportFor(request: FastifyRequest, ask: (tape: ReplayTape) => ReplayReport): ReplayReport {
    requirePermission(this.authenticator, request, 'admin');
    const { tape } = this.tape;
    if (tape !== undefined) return ask(tape);
    throw new ToolFailure('NOT_FOUND', 'This gateway replays nothing: gateway.yaml has no replay.file.', {
      reason: 'NO_REPLAY',
    });
  }
}

function checked(name: string): string {
  if (RECORDING_NAME.test(name)) return name;
  throw noRecording();
}

function found<Value>(value: Value | undefined): Value {
  if (value === undefined) throw noRecording();
  return value;
}

function noRecording(): ToolFailure {
  return new ToolFailure('NOT_FOUND', 'There is no recording of this name.', {
    reason: 'RECORDING_NOT_FOUND',
  });
}
