// Recordings by REST: begin one, list, end, download and delete them; and what a replay was asked for.
import { Readable } from 'node:stream';
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { holds, type Principal } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import { RECORDING_NAME, type Recordings, type ReplayTape } from '../../ports/recordings.ts';
import { AUTHENTICATOR, MANAGEMENT_ACTS, RECORDINGS, REPLAY_TAPE } from '../tokens.ts';
import type { Affects, ManagementActs } from './management-acts.ts';
import { demand, PLATFORM, requirePermission } from './management.ts';
import { bodyOf } from './read-call.ts';
import { readRecordingWish } from './read-recording-wish.ts';
import { wireRecording, wireReport } from './wire-recording.ts';

@Controller('v1/admin/recordings')
export class RecordingsController {
  constructor(
    @Inject(RECORDINGS) private readonly recordings: Recordings,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get()
  async list(@Req() request: FastifyRequest) {
    const whose = whoseOf(requirePermission(this.authenticator, request, 'admin'));
    const found = await this.recordings.list();
    const seen = found.filter(({ tenantId }) => whose === undefined || tenantId === whose);
    return { recordings: seen.map(wireRecording) };
  }

  @Post()
  @HttpCode(200)
  start(@Req() request: FastifyRequest) {
    const act = { action: 'recordings.start', permission: 'admin' };
    return this.acts.perform(request, act, async (principal, affects) => {
      const wish = readRecordingWish(bodyOf(request), principal.tenantId);
      if (wish.tenantId !== principal.tenantId) demand(principal, PLATFORM);
      affects(wish.tenantId);
      return wireRecording(await this.recordings.start(wish));
    });
  }

  @Post(':name/stop')
  @HttpCode(200)
  stop(@Req() request: FastifyRequest, @Param('name') name: string) {
    return this.#perform(request, 'stop', name, async (whose) =>
      wireRecording(found(await this.recordings.stop(name, whose))),
    );
  }

  @Get(':name')
  async download(@Req() request: FastifyRequest, @Param('name') name: string, @Res() reply: FastifyReply) {
    const lines = await this.#perform(request, 'read', name, async (whose) =>
      found(await this.recordings.read(name, whose)),
    );
    reply.header('content-type', 'application/jsonl; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="${name}.jsonl"`);
    reply.send(Readable.from(lines));
  }

  @Delete(':name')
  remove(@Req() request: FastifyRequest, @Param('name') name: string) {
    return this.#perform(request, 'remove', name, async (whose) => {
      if (!(await this.recordings.remove(name, whose))) throw noRecording();
      return { name, deleted: true };
    });
  }

  /** On a recording of the caller's tenant, or of any where the platform asks: no other is told to be there. */
  #perform<Result>(
    request: FastifyRequest,
    verb: string,
    name: string,
    work: (whose: string | undefined) => Promise<Result>,
  ): Promise<Result> {
    const act = { action: `recordings.${verb}`, permission: 'admin', target: name };
    return this.acts.perform(request, act, async (principal, affects) => {
      const whose = whoseOf(principal);
      await this.#affected(checked(name), whose, affects);
      return work(whose);
    });
  }

  async #affected(name: string, whose: string | undefined, affects: Affects): Promise<void> {
    const tenantId = (await this.recordings.find(name, whose))?.tenantId;
    if (tenantId !== undefined) affects(tenantId);
  }
}

/** Undefined: the recordings of every tenant. */
function whoseOf(principal: Principal): string | undefined {
  return holds(principal, PLATFORM) ? undefined : principal.tenantId;
}

@Controller('v1/admin/replay')
export class ReplayController {
  constructor(
    @Inject(REPLAY_TAPE) private readonly tape: { readonly tape: ReplayTape | undefined },
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get()
  report(@Req() request: FastifyRequest) {
    requirePermission(this.authenticator, request, PLATFORM);
    return wireReport(this.#tape().report());
  }

  /** Says how it went, and begins anew. */
  @Post('rewind')
  @HttpCode(200)
  rewind(@Req() request: FastifyRequest) {
    return this.acts.perform(request, { action: 'replay.rewind', permission: PLATFORM }, () => {
      const tape = this.#tape();
      const before = tape.report();
      tape.rewind();
      return wireReport(before);
    });
  }

  #tape(): ReplayTape {
    const { tape } = this.tape;
    if (tape !== undefined) return tape;
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
