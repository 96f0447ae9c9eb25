// Figures of calls, and what they suggest, over gRPC, as over REST: the same shape read, the same decisions, the same fields.
import type { Metadata } from '@grpc/grpc-js';
import { Controller, Inject } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import { PLATFORM } from '../../../core/tenant-asked.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import { figuresAsked } from '../../analytics-view.ts';
import { analyticsQuery } from '../../rest/analytics/schema.ts';
import { wireFigures } from '../../rest/analytics/wire-figures.ts';
import { suggestionsQuery } from '../../rest/suggestions/schema.ts';
import { wireSuggestions } from '../../rest/suggestions/wire-suggestions.ts';
import { suggestionsAsked, type SuggestionPorts } from '../../suggestions-view.ts';
import { AUTHENTICATOR, CALL_HISTORY, DOOR_TELEMETRY, TOOL_CATALOG } from '../../tokens.ts';
import type { Connection } from '../execute/call-metadata.ts';
import { ENCODERS, SERVICE, type Readable } from '../wire-types.ts';
import { admittedBy } from './admitted-caller.ts';
import { messageOf } from './call-message.ts';
import { readable, readAs } from './said-fields.ts';
import { answered } from './sessions.controller.ts';

@Controller()
export class AnalyticsRpcController {
  constructor(
    @Inject(CALL_HISTORY) private readonly history: SuggestionPorts['history'],
    @Inject(TOOL_CATALOG) private readonly catalog: SuggestionPorts['catalog'],
    @Inject(DOOR_TELEMETRY) private readonly telemetry: SuggestionPorts['telemetry'],
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  @GrpcMethod(SERVICE, 'GetAnalytics')
  getAnalytics(message: Readable<object>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const { principal } = await admittedBy(this.authenticator, metadata, call, 'calls:read', PLATFORM);
      const query = readAs(analyticsQuery, readable(message));
      const { history, catalog, telemetry } = this;
      const found = wireFigures(await figuresAsked({ history, catalog, telemetry }, principal, query));
      return ENCODERS.GetAnalytics(figuresMessage(found));
    });
  }

  @GrpcMethod(SERVICE, 'GetSuggestions')
  getSuggestions(message: Readable<object>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const { principal } = await admittedBy(this.authenticator, metadata, call, 'calls:read', PLATFORM);
      const query = readAs(suggestionsQuery, readable(message));
      const { history, catalog, telemetry } = this;
      const ports = { history, catalog, telemetry };
      const { suggestions, ...fields } = wireSuggestions(await suggestionsAsked(ports, principal, query));
      return ENCODERS.GetSuggestions({ ...messageOf(fields), suggestions: suggestions.map(messageOf) });
    });
  }
}

function figuresMessage({
  totals,
  tools,
  agents,
  days,
  failures,
  ...fields
}: ReturnType<typeof wireFigures>) {
  return {
    ...messageOf(fields),
    totals: messageOf(totals),
    tools: tools.map(({ tool, ...figures }) => ({ tool, figures: messageOf(figures) })),
    agents: agents.map(({ agent_id: agentId, ...figures }) => ({ agentId, figures: messageOf(figures) })),
    days: days.map(({ day, ...figures }) => ({ day, figures: messageOf(figures) })),
    failures: failures.map(messageOf),
  };
}
