// The call endpoints: one call, or several at once. They always answer with envelopes.
import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject } from '../../../contract/json.ts';
import type { LargeIntegers } from '../../../contract/call/tool-call.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import type { WithLargeIntegers } from '../../../lib/json/strict-json.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { ASYNC_CALLS, AUTHENTICATOR, DOOR_LIMITS, TOOL_CALLER, type DoorLimits } from '../../tokens.ts';
import { wrongQuery } from '../route/asked.ts';
import { parseCallBody } from '../route/json-text.ts';
import type { Route } from '../route/route.ts';
import { ServesByHand } from '../route/serves.ts';
import { invalid } from '../route/violations.ts';
import { environmentOf, readCall, type CallEnvironment } from './read-call.ts';
import { environmentOfPart, environmentOfRefused, goneFrom, strangerOf } from './several-calls.ts';
import { readAsyncCall } from './respond-async.ts';
import { executeTool, executeTools } from './schema.ts';
import { sendEnvelope, sendEnvelopes } from './write-envelope.ts';

@Controller()
export class ExecuteController {
  constructor(
    @Inject(TOOL_CALLER) private readonly caller: Pick<ToolCaller, 'execute'>,
    @Inject(DOOR_LIMITS) private readonly limits: DoorLimits,
    @Inject(ASYNC_CALLS) private readonly asyncCalls: AsyncCalls,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  @ServesByHand(executeTool)
  execute(
    @Req() request: FastifyRequest<{ Params: { name: string } }>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const env = environmentOf(request, goneFrom(reply));
    const { name } = request.params;
    const { value, largeIntegers } = readable(executeTool, request);
    if (!env.prefer.respondAsync)
      return sendEnvelope(reply, this.caller.execute(readCall(name, value, env, largeIntegers)));
    const asyncCall = readAsyncCall(name, value, env, this.asyncCalls, largeIntegers);
    return sendEnvelope(reply, this.asyncCalls.accept(asyncCall.request, asyncCall.callbackUrl));
  }

  @ServesByHand(executeTools)
  async executeMany(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const env = environmentOf(request, goneFrom(reply));
    const { value, largeIntegers } = readable(executeTools, request);
    const calls = (await strangerOf(env, this.authenticator)) ?? this.#callsOf(value);
    if (calls instanceof ToolFailure) {
      const refused = readCall(undefined, calls, environmentOfRefused(env, calls));
      await sendEnvelope(reply, this.caller.execute(refused));
      return;
    }
    const responses = await Promise.all(
      calls.map((entry, index) => this.caller.execute(readEntry(entry, index, env, largeIntegers))),
    );
    sendEnvelopes(reply, responses);
  }

  #callsOf(body: unknown): readonly unknown[] | ToolFailure {
    if (body instanceof ToolFailure) return body;
    const calls = isJsonObject(body) ? body['calls'] : undefined;
    if (!Array.isArray(calls))
      return invalid('/calls', 'must be a list of calls: [{"tool": …, "arguments": {…}}]');
    const stray = isJsonObject(body) ? Object.keys(body).find((key) => key !== 'calls') : undefined;
    if (stray !== undefined)
      return invalid(`/${stray}`, 'is not a field of a list of calls; each call has a context of its own');
    const { maxParallelCalls } = this.limits;
    if (calls.length === 0 || calls.length > maxParallelCalls) {
      return invalid('/calls', `must hold 1 to ${maxParallelCalls} calls, found ${calls.length}`);
    }
    return calls;
  }
}

function readEntry(entry: unknown, index: number, env: CallEnvironment, largeIntegers: LargeIntegers) {
  const prefix = `/calls/${index}`;
  const own = largeIntegers.filter((pointer) => pointer.startsWith(`${prefix}/`));
  const inside = own.map((pointer) => pointer.slice(prefix.length));
  return readCall(undefined, entry, environmentOfPart(env, index), inside);
}

/** The body, or what was wrong with it: a body that cannot be read is still a call, refused and audited as one. */
function readable(route: Route, request: FastifyRequest): WithLargeIntegers {
  const wrong = wrongQuery(route, request) ?? request.body;
  if (wrong instanceof ToolFailure) return { value: wrong, largeIntegers: [] };
  try {
    return parseCallBody(request.body);
  } catch (error) {
    if (error instanceof ToolFailure) return { value: error, largeIntegers: [] };
    throw error;
  }
}
