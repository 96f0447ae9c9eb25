// Recordings by REST: begin one, list, end, download and delete them.
import { Readable } from 'node:stream';
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { holds, type Principal } from '../../../contract/call/principal.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { RECORDING_NAME, type Recordings, type RecordingState } from '../../../ports/recordings.ts';
import { RECORDINGS } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { demand, PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { encoded } from '../route/route.ts';
import { Serves } from '../route/serves.ts';
import { invalid } from '../route/violations.ts';
import { wire } from '../route/wire.ts';
import {
  deleteRecording,
  downloadRecording,
  listRecordings,
  startRecording,
  stopRecording,
  Recording,
} from './schema.ts';

type OfOne = Asked<typeof downloadRecording | typeof stopRecording | typeof deleteRecording>;

@Controller()
export class RecordingsController {
  constructor(@Inject(RECORDINGS) private readonly recordings: Recordings) {}

  @Serves(listRecordings)
  @Requires('admin')
  async list({ principal }: Asked<typeof listRecordings>) {
    const whose = whoseOf(principal);
    const found = await this.recordings.list();
    const seen = found.filter(({ tenantId }) => whose === undefined || tenantId === whose);
    return { recordings: seen.map(wireRecording) };
  }

  @Serves(startRecording)
  @Requires('admin')
  @Recorded('recordings.start')
  async start({ principal, body, affects }: Asked<typeof startRecording>) {
    const { name, tools, tenant_id: tenantId = principal.tenantId } = body;
    if (tenantId === '')
      throw invalid(
        '/tenant_id',
        'is required: this credential belongs to no tenant, whose calls could be meant',
      );
    if (tenantId !== principal.tenantId) demand(principal, PLATFORM);
    affects(tenantId);
    const { session_id: sessionId, max_calls: maxCalls, max_bytes: maxBytes, ttl: ttlMs } = body;
    const wish = { name, tenantId, sessionId, ...(tools && { tools }), maxCalls, maxBytes, ttlMs };
    return wireRecording(await this.recordings.start(wish));
  }

  @Serves(downloadRecording)
  @Requires('admin')
  @Recorded('recordings.read')
  async download(asked: Asked<typeof downloadRecording>, reply: FastifyReply) {
    const { name, whose } = await this.#affected(asked);
    const lines = found(await this.recordings.read(name, whose));
    reply.header('content-type', 'application/jsonl; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="${name}.jsonl"`);
    return encoded(Readable.from(lines));
  }

  @Serves(deleteRecording)
  @Requires('admin')
  @Recorded('recordings.remove')
  async remove(asked: Asked<typeof deleteRecording>) {
    const { name, whose } = await this.#affected(asked);
    if (!(await this.recordings.remove(name, whose))) throw noRecording();
    return { name, deleted: true as const };
  }

  @Serves(stopRecording)
  @Requires('admin')
  @Recorded('recordings.stop')
  async stop(asked: Asked<typeof stopRecording>) {
    const { name, whose } = await this.#affected(asked);
    return wireRecording(found(await this.recordings.stop(name, whose)));
  }

  /** A recording of the caller's tenant, or of any where the platform asks: no other is told to be there. */
  async #affected({ principal, params, affects }: OfOne) {
    const name = checked(params.name);
    const whose = whoseOf(principal);
    const tenantId = (await this.recordings.find(name, whose))?.tenantId;
    if (tenantId !== undefined) affects(tenantId);
    return { name, whose };
  }
}

/** Undefined: the recordings of every tenant. */
function whoseOf(principal: Principal): string | undefined {
  return holds(principal, PLATFORM) ? undefined : principal.tenantId;
}

function wireRecording(state: RecordingState) {
  const { ended: status, tenantId = null, sessionId = null, tools = null } = state;
  return wire(Recording, { ...state, status, tenantId, sessionId, tools });
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
  return toolFailure('RECORDING_NOT_FOUND', 'There is no recording of this name.');
}
