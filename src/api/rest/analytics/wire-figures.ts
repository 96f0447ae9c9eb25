// Figures of calls as REST shows them; gRPC shows the same fields.
import type { FiguresAsked } from '../../analytics-view.ts';
import { wire } from '../route/wire.ts';
import { AgentFigures, CallFailures, CallFigures, DayFigures, ToolFigures } from './schema.ts';

export function wireFigures(found: FiguresAsked) {
  return {
    ...wireCounted(found),
    totals: wire(CallFigures, found.totals),
    tools: found.byTool.map((each) => wire(ToolFigures, each)),
    agents: found.byAgent.map((each) => wire(AgentFigures, each)),
    days: found.byDay.map((each) => wire(DayFigures, each)),
    failures: found.failures.map((each) => wire(CallFailures, each)),
    never_called: found.neverCalled,
    never_called_count: found.neverCalledCount,
  };
}

type Counted = Pick<FiguresAsked, 'tenant' | 'from' | 'to' | 'countedFrom' | 'isComplete'>;

/** Whose calls were counted, and from when to when. */
export function wireCounted(found: Counted) {
  return {
    tenant: found.tenant,
    from: found.from.toISOString(),
    to: found.to.toISOString(),
    counted_from: found.countedFrom.toISOString(),
    complete: found.isComplete,
  };
}
