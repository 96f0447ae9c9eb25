// The operator's side: reload and its status, the kill switch, the registry's version, the pipeline in force.
import { Controller, Inject } from '@nestjs/common';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { RegistryControl } from '../../../ports/registry/registry-control.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { PIPELINE_VIEW, REGISTRY_CONTROL, TOOL_CATALOG, type PipelineView } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import {
  disableTool,
  enableTool,
  getPipeline,
  getRegistry,
  getReloadStatus,
  reload,
  PipelineStep,
  ReloadStatus,
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
    return { request: stepsOf(this.pipeline.request), tool: stepsOf(this.pipeline.tool) };
  }

  @Serves(getReloadStatus)
  @Requires(PLATFORM)
  reloadStatus() {
    return wire(ReloadStatus, this.registry.status());
  }

  @Serves(reload)
  @Requires(PLATFORM)
  @Recorded('tools.reload')
  async reload() {
    return wire(ReloadStatus, await this.registry.reload());
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

function stepsOf(steps: PipelineView['tool']) {
  return steps.map((step) => wire(PipelineStep, step));
}
