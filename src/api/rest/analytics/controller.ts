// Figures of calls by REST: of the caller's tenant, or for the platform of any.
import { Controller, Inject } from '@nestjs/common';
import { figuresAsked } from '../../analytics-view.ts';
import { CALL_HISTORY, DOOR_TELEMETRY, TOOL_CATALOG, type DoorTelemetry } from '../../tokens.ts';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { getAnalytics } from './schema.ts';
import { wireFigures } from './wire-figures.ts';

@Controller()
export class AnalyticsController {
  constructor(
    @Inject(CALL_HISTORY) private readonly history: Pick<CallHistory, 'analytics'>,
    @Inject(TOOL_CATALOG) private readonly catalog: Pick<ToolCatalog, 'snapshot'>,
    @Inject(DOOR_TELEMETRY) private readonly telemetry: DoorTelemetry,
  ) {}

  @Serves(getAnalytics)
  @Requires('calls:read', PLATFORM)
  async get({ principal, query }: Asked<typeof getAnalytics>) {
    const { history, catalog, telemetry } = this;
    return wireFigures(await figuresAsked({ history, catalog, telemetry }, principal, query));
  }
}
