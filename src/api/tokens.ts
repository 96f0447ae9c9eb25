// Injection tokens of the doors: which port stands behind which constructor parameter.
import type { JsonObject } from '../contract/json.ts';

/** ports/tool-caller.ts */
export const TOOL_CALLER = Symbol('ToolCaller');
/** ports/tool-catalog.ts */
export const TOOL_CATALOG = Symbol('ToolCatalog');
/** ports/authenticator.ts */
export const AUTHENTICATOR = Symbol('Authenticator');
/** Sizes and counts that the doors bound. */
export const DOOR_LIMITS = Symbol('DoorLimits');
/** ports/approval-store.ts */
export const APPROVAL_STORE = Symbol('ApprovalStore');
/** ports/registry-control.ts */
export const REGISTRY_CONTROL = Symbol('RegistryControl');
/** The pipeline in force, as names. */
export const PIPELINE_VIEW = Symbol('PipelineView');
/** Whether this process takes calls. */
export const READINESS = Symbol('Readiness');

export interface DoorLimits {
  readonly maxParallelCalls: number;
  /** Whether the credential that asked for an approval may also give it. */
  readonly allowSelfApproval: boolean;
}

export interface PipelineView {
  readonly request: readonly PipelineStep[];
  readonly tool: readonly PipelineStep[];
}

export interface PipelineStep {
  readonly name: string;
  readonly summary: string;
  readonly onFailure: 'deny' | 'continue';
}

export interface Readiness {
  /** Undefined: ready. Otherwise the reason why not. */
  notReady(): string | undefined;
  /** What confines commands on this machine; undefined until it has been found out. */
  sandbox(): JsonObject | undefined;
}
/** The OpenAPI document of REST. */
export const OPENAPI_DOCUMENT = Symbol('OpenApiDocument');
