// The operator's side: reload and its status, the kill switch, the registry's version, the pipeline in force.
import { Controller, Get, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { RegistryControl, ReloadStatus } from '../../ports/registry/registry-control.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import {
  AUTHENTICATOR,
  MANAGEMENT_ACTS,
  PIPELINE_VIEW,
  REGISTRY_CONTROL,
  TOOL_CATALOG,
  type PipelineView,
} from '../tokens.ts';
import type { ManagementActs } from './management-acts.ts';
import { PLATFORM, requirePermission } from './management.ts';

@Controller('v1')
export class AdminController {
  constructor(
    @Inject(REGISTRY_CONTROL) private readonly registry: RegistryControl,
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(PIPELINE_VIEW) private readonly pipeline: PipelineView,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get('registry')
  registryVersion(@Req() request: FastifyRequest) {
    requirePermission(this.authenticator, request, 'tools:read');
    const { version, specs, functions } = this.catalog.snapshot();
    return { version, tools: specs.length, functions: functions.length };
  }

  @Get('pipeline')
  pipelineInForce(@Req() request: FastifyRequest) {
    requirePermission(this.authenticator, request, 'tools:read');
    const wire = (steps: PipelineView['tool']) =>
      steps.map(({ name, summary, onFailure }) => ({ name, summary, on_failure: onFailure }));
    return { request: wire(this.pipeline.request), tool: wire(this.pipeline.tool) };
  }

  @Get('admin/reload')
  reloadStatus(@Req() request: FastifyRequest) {
    requirePermission(this.authenticator, request, PLATFORM);
    return wireStatus(this.registry.status());
  }

  @Post('admin/reload')
  @HttpCode(200)
  reload(@Req() request: FastifyRequest) {
    const act = { action: 'tools.reload', permission: PLATFORM };
    return this.acts.perform(request, act, async () => wireStatus(await this.registry.reload()));
  }

  @Post('admin/tools/:name/disable')
  @HttpCode(200)
  disable(@Req() request: FastifyRequest, @Param('name') name: string) {
    return this.#switchTool(request, name, true);
  }

  @Post('admin/tools/:name/enable')
  @HttpCode(200)
  enable(@Req() request: FastifyRequest, @Param('name') name: string) {
    return this.#switchTool(request, name, false);
  }

  #switchTool(request: FastifyRequest, name: string, disabled: boolean) {
    const action = disabled ? 'tools.disable' : 'tools.enable';
    const act = { action, permission: PLATFORM, target: name, tool: name, urgent: disabled };
    return this.acts.perform(request, act, () => {
      if (this.registry.setDisabled(name, disabled)) return { tool: name, disabled };
      throw new ToolFailure('NOT_FOUND', 'There is no tool of this name.', { reason: 'TOOL_NOT_FOUND' });
    });
  }
}

function wireStatus(status: ReloadStatus) {
  return {
    ok: status.ok,
    registry_version: status.registryVersion,
    tools: status.tools,
    last_attempt_at: status.lastAttemptAt,
    last_success_at: status.lastSuccessAt,
    duration_ms: status.durationMs,
    problems: status.problems,
    warnings: status.warnings,
  };
}
