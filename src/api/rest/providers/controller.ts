// What a model's provider answered, as it came: its calls are run, and answered in the provider's own form.
import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { eachAtMost } from '../../../lib/concurrency/each-at-most.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import {
  AUTHENTICATOR,
  DOOR_LIMITS,
  DOOR_TELEMETRY,
  TOOL_CALLER,
  type DoorLimits,
  type DoorTelemetry,
} from '../../tokens.ts';
import { environmentOf, readCall, type CallEnvironment } from '../execute/read-call.ts';
import { environmentOfRefused, goneFrom, strangerOf } from '../execute/several-calls.ts';
import { sendEnvelope } from '../execute/write-envelope.ts';
import { wrongQuery } from '../route/asked.ts';
import { ServesByHand } from '../route/serves.ts';
import { MessageTally } from './message-tally.ts';
import { readMessage, type AskedCall, type AskedMessage } from './read-message.ts';
import { runToolCalls } from './schema.ts';
import { sendAnswers } from './write-answers.ts';

type ProviderRequest = FastifyRequest<{ Params: { readonly provider: string } }>;

@Controller()
export class ProvidersController {
  #counts: MessageTally | undefined;

  constructor(
    @Inject(TOOL_CALLER) private readonly caller: Pick<ToolCaller, 'execute'>,
    @Inject(DOOR_LIMITS) private readonly limits: DoorLimits,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(DOOR_TELEMETRY) private readonly telemetry: DoorTelemetry,
  ) {}

  /** From the first message on: many gateways have none. */
  get #tally(): MessageTally {
    return (this.#counts ??= new MessageTally(this.telemetry));
  }

  @ServesByHand(runToolCalls)
  async run(@Req() request: ProviderRequest, @Res() reply: FastifyReply): Promise<void> {
    const begun = performance.now();
    const env = environmentOf(request, goneFrom(reply));
    const { provider } = request.params;
    const stranger = await strangerOf(env, this.authenticator);
    const asked = stranger ?? read(provider, request, env);
    if (asked instanceof ToolFailure) {
      if (stranger === undefined) this.#tally.malformed(provider);
      const refused = readCall(undefined, asked, environmentOfRefused(env, asked));
      await sendEnvelope(reply, this.caller.execute(refused));
      return;
    }
    const answered = await this.#runAll(asked.calls, env, begun);
    const written = await sendAnswers(reply, asked.message, answered, this.limits.maxModelText);
    this.#tally.answered({
      provider,
      finish: asked.message.finish,
      calls: answered.length,
      ...written,
      durationMs: performance.now() - begun,
    });
  }

  /** Those that have to wait for their turn have what is left of the caller's time, and none where the caller is gone. */
  #runAll(calls: readonly AskedCall[], env: CallEnvironment, begun: number) {
    let isGone = false;
    env.whenGone(() => (isGone = true));
    return eachAtMost(this.limits.maxParallelCalls, calls, async (call) => {
      const { timeoutMs } = call.request;
      const left = timeoutMs === undefined ? undefined : Math.ceil(timeoutMs - (performance.now() - begun));
      const response = await this.caller.execute({
        ...call.request,
        ...(left !== undefined && { timeoutMs: Math.max(1, left) }),
        whenGone: (gone) => (isGone ? gone() : env.whenGone(gone)),
      });
      return { call, response };
    });
  }
}

/** What was wrong with it is a refusal of the core's to give: behind auth and audit. */
function read(provider: string, request: FastifyRequest, env: CallEnvironment): AskedMessage | ToolFailure {
  const { body } = request;
  const wrong = wrongQuery(runToolCalls, request) ?? (body instanceof ToolFailure ? body : undefined);
  if (wrong !== undefined) return wrong;
  try {
    return readMessage(provider, body, env);
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
}
