// Fetches a file that an argument names by URL: by the same guard as every request, without credentials, bounded.
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { childPointer } from '../../../lib/json/json-pointer.ts';
import type { HttpClient } from '../../../ports/egress/http-client.ts';
import type { RequestOptions } from '../options-schema.ts';
import type { LoadedFile } from './body-parts.ts';
import type { FileArgument } from './file-argument.ts';

const DEFAULT_FILE_BYTES = 10 * 1024 * 1024;

/** Rejects with ToolFailure VALIDATION, reason UNSAFE_ARGUMENT, or with the signal's reason. */
export function fileLoader(
  http: HttpClient,
  { file_urls: urls, max_file_bytes: most = DEFAULT_FILE_BYTES }: RequestOptions,
  signal: AbortSignal,
) {
  return async ({ argument, source, contentType }: FileArgument): Promise<LoadedFile> => {
    if (!(source instanceof URL)) {
      if (source.length > most) throw unsafe(argument, `must not be larger than ${most} bytes`);
      return { bytes: source, contentType };
    }
    const rules = typeof urls === 'object' ? urls : {};
    const egress = {
      allowHosts: rules.allow_hosts ?? [],
      allowPorts: rules.allow_ports ?? [],
      allowPrivate: rules.allow_private ?? [],
    };
    const request = {
      method: 'GET',
      origin: source.origin,
      path: source.pathname + source.search,
      egress,
      maxResponseBytes: most,
      signal,
    };
    try {
      const { status, headers, body } = await http.request({
        ...request,
        headers: { 'user-agent': 'unified-tool-executor', accept: '*/*' },
      });
      if (status !== 200)
        throw unsafe(argument, `could not be fetched: its URL was answered with HTTP ${status}`);
      const type = headers['content-type'];
      return {
        bytes: body,
        contentType:
          contentType ?? (typeof type === 'string' && /^[\x20-\x7e]{1,200}$/.test(type) ? type : undefined),
      };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ToolFailure) || isReason(error, 'UNSAFE_ARGUMENT')) throw error;
      throw unsafe(argument, `could not be fetched: ${error.message}`, error);
    }
  };
}

function unsafe(argument: string, message: string, cause?: unknown): ToolFailure {
  return toolFailure('UNSAFE_ARGUMENT', 'An argument cannot be placed in the request.', {
    partialSideEffects: false,
    details: { violations: [{ pointer: childPointer('', argument), message }] },
    cause,
  });
}
