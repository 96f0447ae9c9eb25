// The gRPC door, all but Execute: translates a request, calls the core or the catalog, translates back.
import type { Metadata, ServerWritableStream } from '@grpc/grpc-js';
import { Controller, Inject } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import { defer, finalize, type Observable } from 'rxjs';
import { holds, type Principal } from '../../contract/call/principal.ts';
import { permissionMissing, toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Viewer } from '../../contract/tool/tool-function.ts';
import { OneByOne } from '../../lib/concurrency/one-by-one.ts';
import { SharedSlots } from '../../lib/concurrency/shared-slots.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { ToolCaller } from '../../ports/tool-caller.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import type { ToolSearch } from '../../ports/registry/tool-search.ts';
import type { Toolsets } from '../../ports/registry/toolsets.ts';
import type { Searched } from '../find-tools.ts';
import { offeringFor } from '../offered-toolset.ts';
import {
  AUTHENTICATOR,
  OFFERED_TOOLS,
  TOOL_CALLER,
  TOOL_CATALOG,
  TOOL_SEARCH,
  TOOLSETS,
  type OfferedTools,
} from '../tokens.ts';
import { lifeOf } from './call-life.ts';
import { checkMetadataSize, credentialOf, tenantOf, type Connection } from './execute/call-metadata.ts';
import { answerTo, paced } from './execute/execute.ts';
import { executeStream } from './stream/execute-stream.ts';
import { GrpcHealth } from './grpc-health.ts';
import { readable } from './management/said-fields.ts';
import { listTools } from './tools/list-tools.ts';
import { formOf, readRequest } from './execute/read-request.ts';
import { findShown, isOff } from '../tool-view.ts';
import { exceptionFor, exceptionOfFailure } from './rich-error.ts';
import { searchTools } from './tools/search-tools.ts';
import { toolMessage } from './tools/tool-message.ts';
import { watchTools } from './tools/watch-tools.ts';
import {
  encodeGetResponse,
  encodeListResponse,
  encodeSearchResponse,
  SERVICE,
  type Readable,
} from './wire-types.ts';
import type { ExecuteMessage, GetToolMessage, ListToolsMessage, SearchToolsMessage } from './wire-types.ts';

type Stream = ServerWritableStream<unknown, Uint8Array>;

const MAX_WATCHERS = 1000;

@Controller()
export class ToolExecutorController {
  readonly #from: Searched;
  readonly #watchers = new SharedSlots(MAX_WATCHERS);
  readonly #turns = new OneByOne();

  constructor(
    @Inject(TOOL_CALLER) private readonly caller: Pick<ToolCaller, 'execute'>,
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(OFFERED_TOOLS) offered: OfferedTools,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(GrpcHealth) private readonly health: GrpcHealth,
    @Inject(TOOLSETS) toolsets: Toolsets,
    @Inject(TOOL_SEARCH) search: ToolSearch,
  ) {
    this.#from = { catalog, toolsets, offered, search };
  }

  @GrpcMethod(SERVICE, 'ExecuteStream')
  executeStream(message: Readable<ExecuteMessage>, metadata: Metadata, call: Stream): Observable<Uint8Array> {
    const life = lifeOf(call);
    return executeStream({
      pace: call,
      form: formOf(message),
      run: (emit) =>
        paced(message, async () =>
          this.caller.execute(readRequest(message, metadata, { ...life, emit }, call)),
        ),
      life,
      answerOf: (response) => answerTo(message, response),
      asError: exceptionFor,
    });
  }

  @GrpcMethod(SERVICE, 'ListTools')
  listTools(message: Readable<ListToolsMessage>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return this.#read({ metadata, call }, message, (request, viewer) => {
      const offering = offeringFor(this.#from, { ...viewer, ...request });
      return encodeListResponse(listTools(this.catalog, request, viewer, offering));
    });
  }

  @GrpcMethod(SERVICE, 'GetTool')
  getTool(message: Readable<GetToolMessage>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return this.#read({ metadata, call }, message, ({ name, ...wanted }, viewer) => {
      const { tools: snapshot } = offeringFor(this.#from, { ...viewer, ...wanted });
      const fn = findShown(snapshot, name, viewer);
      if (fn === undefined) {
        const failure = toolFailure('TOOL_NOT_FOUND', 'There is no tool of this name.');
        throw exceptionOfFailure(failure, { callId: '', tool: name });
      }
      const tool = toolMessage(fn, snapshot, isOff(fn, this.catalog));
      const { documentation } = fn.spec.metadata;
      return encodeGetResponse({ tool, documentation, registryVersion: snapshot.version });
    });
  }

  @GrpcMethod(SERVICE, 'SearchTools')
  searchTools(
    message: Readable<SearchToolsMessage>,
    metadata: Metadata,
    call: Connection,
  ): Promise<Uint8Array> {
    return this.#read({ metadata, call }, message, async (request, viewer) =>
      encodeSearchResponse(await searchTools(this.#from, request, viewer)),
    );
  }

  @GrpcMethod(SERVICE, 'WatchTools')
  watchTools(message: Readable<object>, metadata: Metadata, call: Stream): Promise<Observable<Uint8Array>> {
    return this.#read({ metadata, call }, message, (_request, { principal }) =>
      defer(() => {
        const leave = this.#enterWatch(principal.tenantId);
        const watch = watchTools({
          catalog: this.catalog,
          pace: call,
          turns: this.#turns,
          authorize: () => this.#authorize({ metadata, call }),
          onDrain: (end) => this.health.onDrain(end),
          asError: exceptionFor,
        });
        return watch.pipe(finalize(leave));
      }),
    );
  }

  #enterWatch(tenant: string): () => void {
    const leave = this.#watchers.take(tenant);
    if (leave === undefined) throw exceptionOfFailure(tooManyWatchers());
    return leave;
  }

  async #read<Message extends object, Answer>(
    by: Asking,
    message: Readable<Message>,
    answer: (request: Message, viewer: Viewing) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    try {
      const viewer = await this.#authorize(by);
      return await answer(readable(message), viewer);
    } catch (thrown) {
      throw exceptionFor(thrown);
    }
  }

  #authorize({ metadata, call }: Asking): Viewing | Promise<Viewing> {
    checkMetadataSize(metadata);
    const principal = this.authenticator.authenticate(credentialOf(metadata, call), tenantOf(metadata));
    return principal instanceof Promise ? principal.then(viewerOf) : viewerOf(principal);
  }
}

interface Asking {
  readonly metadata: Metadata;
  readonly call: Connection;
}

type Viewing = Viewer & { readonly principal: Principal };

function viewerOf(principal: Principal): Viewing {
  if (holds(principal, 'tools:read')) return { principal };
  throw permissionMissing('tools:read');
}

function tooManyWatchers(): ToolFailure {
  return toolFailure('TOO_MANY_WATCHERS', `At most ${MAX_WATCHERS} callers may watch the tools at once.`, {
    retryAfterMs: 5000,
  });
}
