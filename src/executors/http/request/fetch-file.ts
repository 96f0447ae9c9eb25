// Fetches a file that an argument names by URL: by the same guard as every request, without credentials, bounded.
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { childPointer } from '../../../lib/json/json-pointer.ts';
import type { EgressPolicy, HttpClient, HttpResponse } from '../../../ports/egress/http-client.ts';
import type { RequestOptions } from '../options-schema.ts';
import type { LoadedFile } from './body-parts.ts';
import type { FileArgument } from './file-argument.ts';

const DEFAULT_FILE_BYTES = 10 * 1024 * 1024;

/**
 * For one call: what it fetches is fetched once, however often the request is sent, and all of it together is no larger than
 * one file may be. Rejects with ToolFailure VALIDATION, reason UNSAFE_ARGUMENT, or with the signal's reason.
 */
export function fileLoader(
  http: HttpClient,
  { file_urls: urls, max_file_bytes: most = DEFAULT_FILE_BYTES }: RequestOptions,
  signal: AbortSignal,
) {
  const fetched = new Map<FileArgument, LoadedFile>();
  let left = most;
  const egress = egressOf(urls);
  return async (file: FileArgument): Promise<LoadedFile> => {
    const { argument, source, contentType } = file;
    const known = fetched.get(file);
    if (known !== undefined) return known;
    if (!(source instanceof URL)) {
      if (source.length > most) throw unsafe(argument, `must not be larger than ${most} bytes`);
      return { bytes: source, contentType };
    }
    const tooLarge = `must not be larger than ${most} bytes, with all files of this call that are given by URL`;
    if (left === 0) throw unsafe(argument, tooLarge);
    const request = {
      method: 'GET',
      origin: source.origin,
      path: source.pathname + source.search,
      egress,
      maxResponseBytes: left,
      signal,
    };
    try {
      const answer = await http.request({
        ...request,
        headers: { 'user-agent': 'unified-tool-executor', accept: '*/*' },
      });
      if (answer.status !== 200)
        throw unsafe(argument, `could not be fetched: its URL was answered with HTTP ${answer.status}`);
      left -= answer.body.length;
      const loaded = { bytes: answer.body, contentType: contentType ?? typeOf(answer) };
      fetched.set(file, loaded);
      return loaded;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ToolFailure) || isReason(error, 'UNSAFE_ARGUMENT')) throw error;
      const isTooLarge = error.type === 'OUTPUT_TOO_LARGE';
      throw unsafe(argument, isTooLarge ? tooLarge : `could not be fetched: ${error.message}`, error);
    }
  };
}

/** Without hosts, any that is public. */
function egressOf(urls: RequestOptions['file_urls']): EgressPolicy {
  if (typeof urls !== 'object') return { allowHosts: [], allowPorts: [], allowPrivate: [] };
  const { allow_hosts: allowHosts, allow_ports: allowPorts = [], allow_private: allowPrivate = [] } = urls;
  return { allowHosts, allowPorts, allowPrivate };
}

function typeOf({ headers: { 'content-type': type } }: HttpResponse): string | undefined {
  return typeof type === 'string' && /^[\x20-\x7e]{1,200}$/.test(type) ? type : undefined;
}

function unsafe(argument: string, message: string, cause?: unknown): ToolFailure {
  return toolFailure('UNSAFE_ARGUMENT', 'An argument cannot be placed in the request.', {
    partialSideEffects: false,
    details: { violations: [{ pointer: childPointer('', argument), message }] },
    cause,
  });
}
