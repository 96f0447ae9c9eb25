// The operator's side: reload and its status, the kill switch, the registry's version, the pipeline in force.
import { Controller, Inject } from '@nestjs/common';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { RegistryControl, ReloadStatus as Status } from '../../../ports/registry/registry-control.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { PIPELINE_VIEW, REGISTRY_CONTROL, TOOL_CATALOG, type PipelineView } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import type { WireOf } from '../route/shapes.ts';
import {
  disableTool,
  enableTool,
  getPipeline,
  getRegistry,
  getReloadStatus,
  reload,
  type PipelineStep,
  type ReloadStatus,
} from './schema.ts';

@Controller()
export class AdminController {
  constructor(
    @Inject(REGISTRY_CONTROL) private readonly registry: RegistryControl,
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(PIPELINE_VIEW) private readonly pipeline: PipelineView,
  ) {}

  @Serves(getRegistry)
  @Requires('tools:read')
  registryVersion() {
    const { version, specs, functions } = this.catalog.snapshot();
    return { version, tools: specs.length, functions: functions.length };
  }

  @Serves(getPipeline)
  @Requires('tools:read')
  pipelineInForce() {
    return { request: this.pipeline.request.map(wireStep), tool: this.pipeline.tool.map(wireStep) };
  }

  @Serves(getReloadStatus)
  @Requires(PLATFORM)
  reloadStatus() {
    return wireStatus(this.registry.status());
  }

  @Serves(reload)
  @Requires(PLATFORM)
  @Recorded('tools.reload')
  async reload() {
    return wireStatus(await this.registry.reload());
  }

  @Serves(disableTool)
  @Requires(PLATFORM)
  @Recorded('tools.disable', { on: 'tool', urgent: true })
  disable({ params }: Asked<typeof disableTool>) {
    return this.#switchTool(params.name, true);
  }

  @Serves(enableTool)
  @Requires(PLATFORM)
  @Recorded('tools.enable', { on: 'tool' })
  enable({ params }: Asked<typeof enableTool>) {
    return this.#switchTool(params.name, false);
  }

  #switchTool(tool: string, disabled: boolean) {
    if (this.registry.setDisabled(tool, disabled)) return { tool, disabled };
    throw toolFailure('TOOL_NOT_FOUND', 'There is no tool of this name.');
  }
}

function wireStep({ name, summary, onFailure }: PipelineView['tool'][number]): WireOf<typeof PipelineStep> {
  return { name, summary, on_failure: onFailure };
}

function wireStatus(status: Status): WireOf<typeof ReloadStatus> {
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
