// Schedules by REST: make one, see what a phrase means, look, change, delete.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Schedules, ScheduleView } from '../../../schedules/schedules.ts';
import { agreedContext } from '../../agreed-context.ts';
import { readContext } from '../../read-context.ts';
import { SCHEDULES } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { tokenOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import { credentialOf } from '../server/credential.ts';
import { tenantBeside } from '../server/tenant-beside.ts';
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  previewSchedule,
  type SaidTerms,
} from './schema.ts';
import { wireListed, wirePreview, wireSchedule } from './wire-schedule.ts';

@Controller()
export class SchedulesController {
  constructor(@Inject(SCHEDULES) private readonly schedules: Schedules) {}

  @Serves(createSchedule)
  @Requires('tools:call')
  async create({ principal, body, headers, request }: Asked<typeof createSchedule>, reply: FastifyReply) {
    const { tool, arguments: args = {}, task_type: taskType = 'tool_call', description = '' } = body;
    const credential = credentialOf(request);
    const beside = { ...keyOf(headers), ...tenantBeside(principal, request) };
    const said = agreedContext(readContext(body.context), beside, 'header');
    const call = { tool, arguments: args, context: said, credential, door: 'rest' };
    const told = body.callback === undefined ? {} : { callbackUrl: hrefOf(body.callback.url) };
    const draft = { ...termsOf(body), phrase: body.schedule, taskType, description, ...told };
    const view = await this.schedules.create(principal, call, draft);
    reply.header('location', `/v1/schedules/${view.schedule.id}`);
    return tagged(reply, view);
  }

  @Serves(previewSchedule)
  @Requires('tools:call')
  preview({ body }: Asked<typeof previewSchedule>) {
    return wirePreview(this.schedules.preview({ ...termsOf(body), phrase: body.schedule }));
  }

  @Serves(listSchedules)
  @Requires('tools:call', 'calls:read')
  async list({ principal, query }: Asked<typeof listSchedules>) {
    const { page_size: limit, page_token: before } = query;
    const found = await this.schedules.list(principal, { limit: limit + 1, before });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1)?.schedule.id : undefined;
    return { schedules: page.map(wireListed), next_page_token: tokenOf(last) };
  }

  @Serves(getSchedule)
  @Requires('tools:call', 'calls:read')
  async get({ principal, params }: Asked<typeof getSchedule>, reply: FastifyReply) {
    return tagged(reply, await this.schedules.get(principal, params.id));
  }

  @Serves(changeSchedule)
  @Requires('tools:call')
  @Recorded('schedules.change')
  async change(asked: Asked<typeof changeSchedule>, reply: FastifyReply) {
    const { principal, params, body, headers, request } = asked;
    const { schedule: phrase, enabled, description, confirmation_token: confirmationToken } = body;
    const edit = { ...termsOf(body), phrase, enabled, description };
    const by = {
      credential: credentialOf(request),
      door: 'rest',
      version: headers['If-Match'],
      confirmationToken,
      ...keyOf(headers),
    };
    return tagged(reply, await this.schedules.change(principal, params.id, edit, by));
  }

  @Serves(deleteSchedule)
  @Requires('tools:call')
  @Recorded('schedules.delete')
  async delete({ principal, params, headers }: Asked<typeof deleteSchedule>): Promise<undefined> {
    await this.schedules.delete(principal, params.id, headers['If-Match']);
  }
}

/** What is no URL is refused as it is. */
function hrefOf(url: string): string {
  return URL.parse(url)?.href ?? url;
}

function tagged(reply: FastifyReply, view: ScheduleView) {
  reply.header('etag', `"${view.schedule.version}"`);
  return wireSchedule(view);
}

function termsOf(said: SaidTerms) {
  const { time_zone: timeZone, misfire, max_catch_up: maxCatchUp, overlap, end_at: end } = said;
  const endAt = end === undefined || end === null ? end : end.getTime();
  return { timeZone, misfire, maxCatchUp, overlap, endAt, maxRuns: said.max_runs };
}

function keyOf({ 'Idempotency-Key': idempotencyKey }: { 'Idempotency-Key'?: string | undefined }) {
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}
