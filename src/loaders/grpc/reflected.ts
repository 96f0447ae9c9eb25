// What an upstream says of itself by reflection, asked with the credentials of its tools; one that does not say is away.
import { SourceAway } from '../../contract/tool/source-away.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { connectionMetadata } from '../../lib/grpc/connection-metadata.ts';
import type { GrpcConnection } from '../../lib/grpc/grpc-connection.ts';
import { upstreamSettings } from '../../lib/grpc/upstream-settings.ts';
import { globMatcher } from '../../lib/text/glob.ts';
import { LateError, within } from '../../lib/timers/within.ts';
import type { Clock } from '../../ports/clock.ts';
import { GrpcStatusError, type GrpcUpstreams } from '../../ports/egress/grpc-upstreams.ts';
import { askReflection, ReflectionError } from './ask-reflection.ts';
import type { Description } from './convert-services.ts';
import type { GrpcLoaderOptions } from './options.ts';

const TIMEOUT_MS = 30_000;

/** Throws SourceAway; Error where the operator's settings refuse it, for waiting changes nothing; or the signal's reason. */
export async function reflected(
  settings: Omit<GrpcConnection, 'type'>,
  { services }: GrpcLoaderOptions,
  { clock, grpcUpstreams }: { readonly clock: Clock; readonly grpcUpstreams: GrpcUpstreams },
  signal: AbortSignal,
): Promise<Description> {
  const isWanted = globMatcher(services ?? ['*']);
  const upstream = grpcUpstreams.open(upstreamSettings(settings));
  const { headers: metadata } = connectionMetadata(settings);
  try {
    const set = await within(clock, { ms: TIMEOUT_MS, signal }, (either) =>
      askReflection(
        { upstream, metadata, timeoutMs: TIMEOUT_MS, signal: either },
        (name) => isWanted(name) && !name.startsWith('grpc.reflection.'),
      ),
    );
    if (set.length === 0) throw new ReflectionError('it lists no service, or none that is asked for');
    return { set, comments: new Map() };
  } catch (error) {
    signal.throwIfAborted();
    const away = (why: string) =>
      new SourceAway(`the upstream cannot be asked what it offers (${why})`, { cause: error });
    if (error instanceof LateError) throw away(`no answer within ${TIMEOUT_MS} ms`);
    if (error instanceof ReflectionError) throw away(error.message);
    if (error instanceof GrpcStatusError) throw away(`it answers with status ${error.code}`);
    if (!(error instanceof ToolFailure)) throw error;
    if (isReason(error, 'EGRESS_DENIED')) throw new Error(error.message, { cause: error });
    throw away(`${error.reason}: ${error.message}`);
  } finally {
    await upstream.close();
  }
}
