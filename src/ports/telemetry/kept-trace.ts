// KEPT_TRACE: the context of a trace that begins here and of which it is decided already that its spans are kept.
import { createContextKey, ROOT_CONTEXT, type Context } from '@opentelemetry/api';

const KEPT = createContextKey('unified-tool-executor: kept');

export const KEPT_TRACE: Context = ROOT_CONTEXT.setValue(KEPT, true);

export const isKeptTrace = (context: Context): boolean => context.getValue(KEPT) === true;
