// grpc: the methods of a gRPC upstream as grpc tools, described by .proto files, by a descriptor set, or by the upstream itself.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { LoadedTools, RawConnection } from '../../contract/tool/loaded-tools.ts';
import type { Loader, LoaderPlugin } from '../../contract/plugin.ts';
import { SourceAway } from '../../contract/tool/source-away.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { AWAY, pollContent } from '../../lib/files/poll-content.ts';
import { writeDescriptorSet } from '../../lib/grpc/descriptor-set.ts';
import { fingerprintOf, readDescribed } from '../../lib/grpc/read-described.ts';
import { parseDuration } from '../../lib/text/duration.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GrpcUpstreams } from '../../ports/egress/grpc-upstreams.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { convertElsewhere } from './convert-elsewhere.ts';
import type { Converted, Description } from './convert-services.ts';
import { optionsSchema, type GrpcLoaderOptions } from './options.ts';
import { resolveUpstream, type ResolvedUpstream } from './own-connection.ts';
import { reflected } from './reflected.ts';

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly grpcUpstreams: GrpcUpstreams;
  readonly configDir: string;
}

export const grpcLoader: LoaderPlugin<GrpcLoaderOptions, Needs> = {
  name: 'grpc',
  summary:
    'Makes a grpc tool of each method of an upstream, from .proto files, a descriptor set, or server reflection.',
  optionsSchema,
  needsNetwork: ({ reflection }) => reflection,
  create: (needs) => (options: GrpcLoaderOptions) => new GrpcLoader(options, needs),
};

const FILE_POLL_MS = 1_000;
const AWAY_MS = 15_000;
/** Further ones are counted. */
const MOST_LINES = 100;
const NOTHING: LoadedTools = { tools: [], connections: [], problems: [] };

class GrpcLoader implements Loader {
  readonly source?: string;
  readonly required: boolean;
  readonly #options: GrpcLoaderOptions;
  readonly #needs: Needs;
  readonly #log: Log;
  readonly #file: string;
  /** What the last description became: the same one is not converted again. */
  #last: { readonly key: string; readonly loaded: LoadedTools } = { key: '', loaded: NOTHING };
  #loaded = AWAY;
  /** What a look has just brought, for the load that it causes. */
  #seen: Description | undefined;

  constructor(options: GrpcLoaderOptions, needs: Needs) {
    this.#file = `grpc:${options.name}`;
    // A file is not away: one that is missing is a problem.
    if (options.reflection) this.source = this.#file;
    this.required = !options.reflection || options.required;
    this.#options = options;
    this.#needs = needs;
    this.#log = needs.log.child({ loader: 'grpc', upstream: options.name });
  }

  async load(signal: AbortSignal): Promise<LoadedTools> {
    const upstream = await this.#resolve();
    if ('problems' in upstream) return { ...NOTHING, problems: upstream.problems };
    try {
      const fingerprint = await this.#fileFingerprint();
      const described = this.#seen ?? (await this.#describe(upstream, signal));
      this.#seen = undefined;
      signal.throwIfAborted();
      this.#loaded = fingerprint ?? descriptionHash(described);
      return await this.#convert(described, upstream, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#loaded = AWAY;
      if (error instanceof SourceAway || !(error instanceof Error) || error instanceof ToolFailure)
        throw error;
      return this.#refused(error.message);
    }
  }

  async watch(changed: () => void, signal: AbortSignal): Promise<void> {
    const { reflection, refresh_interval: interval } = this.#options;
    const everyMs = reflection ? (parseDuration(interval) ?? AWAY_MS) : FILE_POLL_MS;
    const content = {
      everyMs: this.#loaded === AWAY ? Math.min(everyMs, AWAY_MS) : everyMs,
      clock: this.#needs.clock,
      loaded: () => this.#loaded,
      current: (stop: AbortSignal) => this.#current(stop),
      failed: (err: unknown) =>
        this.#log.warn({ err }, 'what describes an upstream could not be looked at: it is looked at again'),
    };
    await pollContent(content, changed, signal);
  }

  async #current(signal: AbortSignal): Promise<string> {
    const files = await this.#fileFingerprint();
    if (files !== undefined) return files;
    const upstream = await this.#resolve();
    if ('problems' in upstream) return AWAY;
    try {
      const described = await this.#describe(upstream, signal);
      const found = descriptionHash(described);
      if (found !== this.#loaded) this.#seen = described;
      return found;
    } catch {
      signal.throwIfAborted();
      return AWAY;
    }
  }

  #resolve() {
    return resolveUpstream(this.#options.upstream, this.#needs.configDir, this.#file).then((upstream) => {
      if ('secrets' in upstream) this.#needs.log.hide?.(upstream.secrets);
      return upstream;
    });
  }

  /** Undefined: it is described by no file. */
  async #fileFingerprint(): Promise<string | undefined> {
    return this.#options.reflection ? undefined : fingerprintOf(this.#options, this.#needs.configDir);
  }

  async #describe(upstream: ResolvedUpstream, signal: AbortSignal): Promise<Description> {
    const { clock, configDir } = this.#needs;
    const read = await readDescribed(this.#options, configDir, clock, signal);
    if (read === undefined) return reflected(upstream.settings, this.#options, this.#needs, signal);
    return { set: writeDescriptorSet(read.files), comments: read.comments };
  }

  async #convert(
    described: Description,
    upstream: ResolvedUpstream,
    signal: AbortSignal,
  ): Promise<LoadedTools> {
    const key = hash('sha256', JSON.stringify([descriptionHash(described), upstream.resolved]));
    if (key === this.#last.key) return this.#last.loaded;
    const { upstream: _upstream, ...options } = this.#options;
    const request = { ...described, options };
    const converted = await convertElsewhere(request, this.#needs.clock, signal);
    const loaded =
      converted.problem === undefined ? this.#taken(converted, upstream) : this.#refused(converted.problem);
    this.#last = { key, loaded };
    return loaded;
  }

  #taken(converted: Converted, upstream: ResolvedUpstream): LoadedTools {
    this.#report(converted);
    const { configDir: baseDir } = this.#needs;
    const locate = () => ({ file: this.#file });
    return {
      tools: converted.tools.map(({ value, contentHash }) => ({ value, contentHash, baseDir, locate })),
      connections: [this.#connection(upstream, Buffer.from(converted.set).toString('base64'))],
      problems: [],
    };
  }

  #connection({ value, resolved, secrets }: ResolvedUpstream, descriptors: string): RawConnection {
    const whole: JsonObject = { ...resolved, descriptors };
    return {
      name: this.#options.name,
      value,
      resolved: whole,
      secrets,
      contentHash: hash('sha256', JSON.stringify(whole)),
      baseDir: this.#needs.configDir,
      locate: () => ({ file: this.#file }),
    };
  }

  #refused(message: string): LoadedTools {
    return { ...NOTHING, problems: [{ file: this.#file, message }] };
  }

  #report({ tools, leftOut, unused }: Converted): void {
    for (const each of leftOut.slice(0, MOST_LINES)) this.#log.warn({ ...each }, 'a method was left out');
    if (unused.length > 0)
      this.#log.warn({ overrides: unused.slice(0, MOST_LINES) }, 'overrides fit none of the methods');
    const fields = { tools: tools.length, left_out: leftOut.length };
    this.#log[leftOut.length > 0 ? 'warn' : 'info'](fields, 'gRPC services read');
  }
}

function descriptionHash({ set, comments }: Description): string {
  return hash('sha256', Buffer.concat([set, Buffer.from(JSON.stringify([...comments]))]));
}
