// Acts: what people do on the management side is allowed or refused, done, and written down with who did it.
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import {
  applyDecorators,
  Inject,
  Injectable,
  SetMetadata,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { JsonValue } from '../../../contract/json.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { uuidv7 } from '../../../lib/ids.ts';
import { NO_CALL, type AuditRecord, type AuditSink } from '../../../ports/audit-sink.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import { MANAGEMENT_ACTS } from '../../tokens.ts';
import { admittedOf, type Admitted } from './admitted.ts';

interface ActKind {
  /** What the path names, where it is a tool or a call. */
  readonly on?: 'tool' | 'call';
  /** Where it was asked for; REST when left out. */
  readonly door?: string;
  /** True for an emergency stop: done even where it cannot be recorded, and then the log alone knows. */
  readonly urgent?: boolean;
  /** True where the work keeps its own record of what it has done: only refusals are recorded here. */
  readonly recordsItself?: boolean;
  /** Of a request that only asks what would be. */
  readonly unless?: (query: Readonly<Record<string, unknown>>) => boolean;
  /** Of what the route answers: it was only a look. */
  readonly unlessAnswered?: (answer: unknown) => boolean;
  /** Of what the route answers, where the path names nothing yet. */
  readonly targetOf?: (answer: unknown) => string;
}

export interface Act extends ActKind {
  /** What was done, as `resource.verb`. */
  readonly action: string;
  /** What it was done to: a name or an id. */
  readonly target: string;
}

type Outcome = Pick<AuditRecord, 'outcome' | 'reason'>;

const ACT = 'rest:act';
const DONE: Outcome = { outcome: 'ok', reason: '' };
const MAX_TARGET = 200;

/** What the route does is an act, done or refused. Its target is what the path names. */
export function Recorded(action: string, kind: ActKind = {}): MethodDecorator {
  return applyDecorators(SetMetadata(ACT, { ...kind, action }), UseInterceptors(ActRecorder));
}

/** Undefined: the request changes nothing. */
export function actOf(context: ExecutionContext): Act | undefined {
  const act: (ActKind & { readonly action: string }) | undefined = Reflect.getMetadata(
    ACT,
    context.getHandler(),
  );
  const { params, query } = context.switchToHttp().getRequest<FastifyRequest>();
  if (act === undefined || act.unless?.((query ?? {}) as Record<string, unknown>) === true) return undefined;
  const target = Object.values((params ?? {}) as Record<string, string>).join('/');
  return { ...act, target };
}

@Injectable()
export class ActRecorder implements NestInterceptor {
  constructor(@Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const act = actOf(context);
    if (act === undefined) return next.handle();
    const admitted = admittedOf(context.switchToHttp().getRequest<FastifyRequest>());
    return from(this.acts.perform(admitted, act, () => lastValueFrom(next.handle())));
  }
}

export class ManagementActs {
  readonly #sink: AuditSink;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(sink: AuditSink, clock: Clock, log: Log) {
    this.#sink = sink;
    this.#clock = clock;
    this.#log = log;
  }

  /** Throws ToolFailure UNAVAILABLE (AUDIT_UNAVAILABLE), and whatever the work throws. */
  async perform<Result>(by: Admitted, act: Act, work: () => Promise<Result>): Promise<Result> {
    try {
      // Asked first: nothing is done of which we already know that it cannot be recorded.
      if (act.urgent !== true) await this.#sink.ready();
      const result = await work();
      if (act.recordsItself === true || act.unlessAnswered?.(result) === true) return result;
      const target = act.targetOf?.(result) ?? act.target;
      const recorded = this.#record(by, { ...act, target }, DONE);
      await (act.urgent === true ? recorded.catch(() => undefined) : recorded);
      return result;
    } catch (error) {
      if (error instanceof ToolFailure && !isReason(error, 'AUDIT_UNAVAILABLE'))
        await this.refused(by, act, error);
      throw error;
    }
  }

  /** Where it cannot be recorded, the log alone knows. */
  async refused(by: Admitted, act: Act, { type, reason }: ToolFailure): Promise<void> {
    await this.#record(by, act, { outcome: type, reason }).catch(() => undefined);
  }

  async #record({ principal, tenants, notes: more }: Admitted, act: Act, outcome: Outcome): Promise<void> {
    const { action, target: whole, on, door = 'rest' } = act;
    const { id, userId = '' } = principal;
    this.#log.info({ action, target: whole, by: id, ...outcome, ...more }, 'management operation');
    const now = this.#clock.wall();
    const target = whole.slice(0, MAX_TARGET);
    const notes: Record<string, JsonValue> = { ...more, action, target };
    const records = [...tenants].map((tenant) => ({
      ...NO_CALL,
      ...outcome,
      kind: 'management' as const,
      door,
      eventId: uuidv7(now),
      at: new Date(now).toISOString(),
      principal: id,
      user: userId,
      tenant,
      callId: on === 'call' ? target : '',
      requestedTool: on === 'tool' ? target : '',
      tool: on === 'tool' ? target : '',
      notes,
    }));
    await Promise.all(records.map((each) => this.#sink.write(each)));
  }
}
