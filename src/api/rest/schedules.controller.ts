// Schedules by REST: make one, see what a phrase means, look, change, delete.
import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Patch,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { holds, type Principal } from '../../contract/call/principal.ts';
import type { Schedules, ScheduleView } from '../../schedules/schedules.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import { readContext } from '../read-context.ts';
import { AUTHENTICATOR, MANAGEMENT_ACTS, SCHEDULES } from '../tokens.ts';
import { askedForApproval } from './ask-for-approval.ts';
import { textOf, type Query as ListQuery } from './history-query.ts';
import type { ManagementActs } from './management-acts.ts';
import { requirePermission } from './management.ts';
import { pageSize } from './page.ts';
import { bodyOf, credentialOf, invalid } from './read-call.ts';
import { readEdit, readIfMatch, readNewSchedule, readPreview } from './read-schedule.ts';
import { wireListed, wirePreview, wireSchedule } from './wire-schedule.ts';

const ID = /^[0-9a-f-]{36}$/;
const JSON_TYPE = 'application/json; charset=utf-8';

@Controller('v1/schedules')
export class SchedulesController {
  constructor(
    @Inject(SCHEDULES) private readonly schedules: Schedules,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Post()
  async create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const principal = requirePermission(this.authenticator, request, 'tools:call');
    const { context, draft, ...call } = readNewSchedule(bodyOf(request));
    const said = { ...readContext(context), ...keyOf(request) };
    const made = { ...call, context: said, credential: credentialOf(request.headers), door: 'rest' };
    const view = await this.schedules
      .create(principal, made, draft)
      .catch((error: unknown) => askedForApproval(reply, error));
    if (view === undefined) return;
    reply.code(201).header('location', `/v1/schedules/${view.schedule.id}`);
    send(reply, view);
  }

  @Post('preview')
  @HttpCode(200)
  preview(@Req() request: FastifyRequest) {
    requirePermission(this.authenticator, request, 'tools:call');
    return wirePreview(this.schedules.preview(readPreview(bodyOf(request))));
  }

  @Get()
  async list(@Req() request: FastifyRequest, @Query() query: ListQuery) {
    const principal = this.#reader(request);
    const limit = pageSize(textOf(query, 'page_size'));
    const found = await this.schedules.list(principal, { limit: limit + 1, before: tokenOf(query) });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1)?.schedule.id : undefined;
    return { schedules: page.map(wireListed), next_page_token: last ?? '' };
  }

  @Get(':id')
  async get(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('id') id: string,
  ): Promise<void> {
    send(reply, await this.schedules.get(this.#reader(request), id));
  }

  @Patch(':id')
  async change(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('id') id: string,
  ): Promise<void> {
    const act = { action: 'schedules.change', permission: 'tools:call', target: id };
    const view = await this.acts
      .perform(request, act, (principal) => {
        const { confirmationToken, ...edit } = readEdit(bodyOf(request));
        const version = readIfMatch(request.headers['if-match']);
        const credential = credentialOf(request.headers);
        const by = { credential, door: 'rest', version, confirmationToken, ...keyOf(request) };
        return this.schedules.change(principal, id, edit, by);
      })
      .catch((error: unknown) => askedForApproval(reply, error));
    if (view !== undefined) send(reply, view);
  }

  @Delete(':id')
  @HttpCode(204)
  async delete(@Req() request: FastifyRequest, @Param('id') id: string): Promise<void> {
    const act = { action: 'schedules.delete', permission: 'tools:call', target: id };
    await this.acts.perform(request, act, (principal) =>
      this.schedules.delete(principal, id, readIfMatch(request.headers['if-match'])),
    );
  }

  #reader(request: FastifyRequest): Principal {
    const principal = this.authenticator.authenticate(credentialOf(request.headers));
    const permission = holds(principal, 'calls:read') ? 'calls:read' : 'tools:call';
    return requirePermission(this.authenticator, request, permission);
  }
}

function send(reply: FastifyReply, view: ScheduleView): void {
  reply.header('etag', `"${view.schedule.version}"`).header('content-type', JSON_TYPE);
  reply.send(JSON.stringify(wireSchedule(view)));
}

function keyOf({ headers }: FastifyRequest): { idempotencyKey?: string } {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? { idempotencyKey: key } : {};
}

function tokenOf(query: ListQuery): string | undefined {
  const token = textOf(query, 'page_token');
  if (token !== undefined && !ID.test(token))
    throw invalid('/page_token', 'must be a next_page_token of this list');
  return token;
}
