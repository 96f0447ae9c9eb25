// Calls that a model wrote into its text, for models without function calling: found, and run.
import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import { resultsText } from '../../../formats/text/results-text.ts';
import { findTextCalls, type TextCall } from '../../../formats/text/text-calls.ts';
import { TextPlaces } from '../../../lib/text/text-places.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { AUTHENTICATOR, DOOR_LIMITS, TOOL_CALLER, type DoorLimits } from '../../tokens.ts';
import { environmentOf, readCall, type CallEnvironment } from '../execute/read-call.ts';
import { environmentOfPart, environmentOfRefused, goneFrom, strangerOf } from '../execute/several-calls.ts';
import { envelopeJson, sendEnvelope, sendPieces } from '../execute/write-envelope.ts';
import { Requires } from '../management/permissions.ts';
import { readBodyOf, type Asked } from '../route/asked.ts';
import { Serves, ServesByHand } from '../route/serves.ts';
import { invalid } from '../route/violations.ts';
import { executeText, parseText } from './schema.ts';
import { wireTextCall } from './wire-text-call.ts';

type Said = Asked<typeof executeText>['body'];

@Controller()
export class TextController {
  constructor(
    @Inject(TOOL_CALLER) private readonly caller: Pick<ToolCaller, 'execute'>,
    @Inject(DOOR_LIMITS) private readonly limits: DoorLimits,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  @Serves(parseText)
  @Requires('tools:read')
  parse({ body: { text } }: Asked<typeof parseText>) {
    const places = new TextPlaces(text);
    return { calls: this.#callsIn(text).map((call) => wireTextCall(call, places)) };
  }

  @ServesByHand(executeText)
  async execute(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const env = environmentOf(request, goneFrom(reply));
    const asked = (await strangerOf(env, this.authenticator)) ?? this.#asked(request);
    if (asked instanceof ToolFailure) {
      const refused = readCall(undefined, asked, environmentOfRefused(env, asked));
      await sendEnvelope(reply, this.caller.execute(refused));
      return;
    }
    const { said, calls } = asked;
    const answered = await Promise.all(
      calls.map(async (call, index) => {
        const response = await this.caller.execute(requestOf(call, said, environmentOfPart(env, index)));
        return { call, tool: call.tool, response };
      }),
    );
    sendAnswers(reply, said.text, answered);
  }

  #asked(request: FastifyRequest): { said: Said; calls: readonly TextCall[] } | ToolFailure {
    try {
      const said = readBodyOf(executeText, request);
      return { said, calls: this.#callsIn(said.text) };
    } catch (error) {
      if (error instanceof ToolFailure) return error;
      throw error;
    }
  }

  /** Throws ToolFailure VALIDATION where there are more than may run at once. */
  #callsIn(text: string): readonly TextCall[] {
    const { maxParallelCalls } = this.limits;
    const calls = findTextCalls(text, maxParallelCalls);
    if (calls.length > maxParallelCalls)
      throw invalid('/text', `must hold at most ${maxParallelCalls} calls`);
    return calls;
  }
}

function requestOf(call: TextCall, { context }: Said, env: CallEnvironment): ToolRequest {
  const { tool, arguments: args, id, refusal } = call;
  const largeIntegers = call.largeIntegers.map((pointer) => `/arguments${pointer}`);
  const asCall = { tool, arguments: args, ...(context !== undefined && { context }) };
  const request = readCall(undefined, asCall, env, largeIntegers);
  return {
    ...request,
    ...(id !== undefined && { providerCallId: id }),
    // What is wrong with the headers or the context comes first: it is so for every call.
    ...(request.refusal === undefined && refusal !== undefined && { refusal }),
  };
}

interface Answered {
  readonly call: TextCall;
  readonly tool: string;
  readonly response: ToolResponse;
}

/** The envelopes are JSON text already, and are pasted as they are. */
function sendAnswers(reply: FastifyReply, text: string, answered: readonly Answered[]): void {
  const places = new TextPlaces(text);
  const calls = answered.map(({ call, response }, index) => {
    const shown = JSON.stringify(wireTextCall(call, places)).slice(0, -1);
    return `${index === 0 ? '' : ','}${shown},"response":${envelopeJson(response)}}`;
  });
  const results = JSON.stringify(resultsText(answered));
  sendPieces(reply, ['{"calls":[', ...calls, `],"text":${results}}`]);
}
