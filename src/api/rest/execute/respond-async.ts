// `Prefer: respond-async`: the same call, to be accepted now and run later, with a callback where its body names one.
import { isJsonObject } from '../../../contract/json.ts';
import type { AdmitRequest } from '../../../contract/call/admission.ts';
import type { LargeIntegers } from '../../../contract/call/tool-call.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import { invalid } from '../route/violations.ts';
import { readCall, type CallEnvironment } from './read-call.ts';

/** `parsed` is the body as JSON, or what refused it; `largeIntegers` are pointers into it. */
export function readAsyncCall(
  tool: string,
  parsed: unknown,
  env: CallEnvironment,
  calls: AsyncCalls,
  largeIntegers: LargeIntegers = [],
): AsyncRequest {
  const { body, callbackUrl, wrong } = withoutCallback(parsed, calls);
  const call = readCall(tool, body, env, largeIntegers);
  const request = wrong !== undefined && call.refusal === undefined ? { ...call, refusal: wrong } : call;
  return { request, ...(callbackUrl !== undefined && { callbackUrl }) };
}

export interface AsyncRequest {
  readonly request: AdmitRequest;
  readonly callbackUrl?: string;
}

interface ReadCallback {
  readonly body: unknown;
  readonly callbackUrl?: string;
  /** Refused like any other fault of the body, behind auth and audit. */
  readonly wrong?: ToolFailure;
}

function withoutCallback(parsed: unknown, calls: AsyncCalls): ReadCallback {
  if (!isJsonObject(parsed) || parsed['callback'] === undefined) return { body: parsed };
  const { callback, ...body } = parsed;
  try {
    const callbackUrl = urlOf(callback);
    calls.checkCallback(callbackUrl);
    return { body, callbackUrl: new URL(callbackUrl).href };
  } catch (error) {
    if (error instanceof ToolFailure) return { body, wrong: error };
    throw error;
  }
}

function urlOf(callback: unknown): string {
  if (!isJsonObject(callback)) throw invalid('/callback', 'must be an object: {"url": "https://…"}');
  const stray = Object.keys(callback).find((key) => key !== 'url');
  if (stray !== undefined)
    throw invalid('/callback', `holds "${stray.slice(0, 64)}"; expected url and nothing else`);
  const { url } = callback;
  if (typeof url !== 'string') throw invalid('/callback/url', 'must be a string');
  return url;
}
