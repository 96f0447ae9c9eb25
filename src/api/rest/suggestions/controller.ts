// Suggestions by REST: of the caller's tenant, or for the platform of any.
import { Controller, Inject } from '@nestjs/common';
import { suggestionsAsked, type SuggestionPorts } from '../../suggestions-view.ts';
import { CALL_HISTORY, DOOR_TELEMETRY, TOOL_CATALOG } from '../../tokens.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { getSuggestions } from './schema.ts';
import { wireSuggestions } from './wire-suggestions.ts';

@Controller()
export class SuggestionsController {
  constructor(
    @Inject(CALL_HISTORY) private readonly history: SuggestionPorts['history'],
    @Inject(TOOL_CATALOG) private readonly catalog: SuggestionPorts['catalog'],
    @Inject(DOOR_TELEMETRY) private readonly telemetry: SuggestionPorts['telemetry'],
  ) {}

  @Serves(getSuggestions)
  @Requires('calls:read', PLATFORM)
  async get({ principal, query }: Asked<typeof getSuggestions>) {
    const { history, catalog, telemetry } = this;
    return wireSuggestions(await suggestionsAsked({ history, catalog, telemetry }, principal, query));
  }
}
