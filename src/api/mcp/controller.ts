// The MCP door's routes. The SDK behind it is loaded with the first client: a gateway that nobody asks needs none of it.
import { Controller, Inject, Req, Res, type BeforeApplicationShutdown } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AsyncCalls } from '../../calls/async-calls.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ApprovalStore } from '../../ports/approvals/approval-store.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { CallHistory } from '../../ports/calls/call-history.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import type { Toolsets } from '../../ports/registry/toolsets.ts';
import type { ToolCaller } from '../../ports/tool-caller.ts';
import type { ManagementActs } from '../rest/management/acts.ts';
import { ServesByHand } from '../rest/route/serves.ts';
import {
  APPROVAL_STORE,
  ASYNC_CALLS,
  AUTHENTICATOR,
  CALL_HISTORY,
  MANAGEMENT_ACTS,
  DOOR_TELEMETRY,
  MCP_TERMS,
  OFFERED_TOOLS,
  TOOL_CALLER,
  TOOL_CATALOG,
  TOOLSETS,
  type McpTerms,
  type OfferedTools,
} from '../tokens.ts';
import type { McpDoor } from './mcp-door.ts';
import { metadataOf } from './resource-metadata.ts';
import type { TelemetryDeps } from './telemetry/door-telemetry.ts';
import {
  mcpListen,
  mcpMessage,
  mcpResourceMetadata,
  mcpToolsetListen,
  mcpToolsetMessage,
  resourceMetadata,
} from './schema.ts';

@Controller()
export class McpController implements BeforeApplicationShutdown {
  #door: Promise<McpDoor> | undefined;

  constructor(
    @Inject(TOOL_CALLER) private readonly caller: Pick<ToolCaller, 'execute'>,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(TOOLSETS) private readonly toolsets: Toolsets,
    @Inject(OFFERED_TOOLS) private readonly offered: OfferedTools,
    @Inject(APPROVAL_STORE) private readonly approvals: ApprovalStore,
    @Inject(ASYNC_CALLS) private readonly calls: AsyncCalls,
    @Inject(CALL_HISTORY) private readonly history: CallHistory,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
    @Inject(MCP_TERMS) private readonly terms: McpTerms,
    @Inject(DOOR_TELEMETRY) private readonly telemetry: TelemetryDeps,
  ) {}

  @ServesByHand(mcpMessage)
  async message(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.#door ??= this.#load();
    await (await this.#door).serve(request, reply);
  }

  @ServesByHand(mcpListen)
  async listen(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.#door ??= this.#load();
    await (await this.#door).follow(request, reply);
  }

  @ServesByHand(mcpToolsetMessage)
  messageOfToolset(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.message(request, reply);
  }

  @ServesByHand(mcpToolsetListen)
  listenToToolset(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.listen(request, reply);
  }

  /** Before connections are closed: a stream would keep its own open. */
  async beforeApplicationShutdown(): Promise<void> {
    (await this.#door)?.close();
  }

  @ServesByHand(resourceMetadata)
  metadata(@Req() { headers, socket }: FastifyRequest) {
    const found = metadataOf(this.terms, { headers, socket });
    if (found === undefined) throw toolFailure('ROUTE_NOT_FOUND', 'No issuer of tokens is set up here.');
    return found;
  }

  @ServesByHand(mcpResourceMetadata)
  ofMcp(@Req() request: FastifyRequest) {
    return this.metadata(request);
  }

  async #load(): Promise<McpDoor> {
    const { McpDoor: Door } = await import('./mcp-door.ts');
    const { caller, authenticator, catalog, toolsets, offered, approvals, calls, history, acts } = this;
    const { terms, telemetry } = this;
    const ports = { caller, authenticator, catalog, toolsets, offered, approvals, calls, history, acts };
    return new Door({ ...ports, terms, telemetry });
  }
}
