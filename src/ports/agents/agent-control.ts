// AgentControl: who may see and change agents and their configuration, and does so. A tenant's agents are that tenant's.
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import type { Principal } from '../../contract/call/principal.ts';
import type { AgentRecord, AgentToolRecord } from './agent-store.ts';

/** Whose agents. Undefined: those of whoever asks. */
export type OfTenant = string | undefined;

export interface AgentWho {
  readonly tenant: OfTenant;
  readonly agent: string;
}

export interface AgentToolWho extends AgentWho {
  readonly tool: string;
}

export interface AgentToolEdit {
  readonly isEnabled?: boolean;
  readonly config?: JsonObject;
  readonly sensitiveConfig?: JsonObject;
}

export interface ConfigForm {
  readonly agent: string;
  readonly tool: string;
  /** JSON Schema of config and sensitive_config together. */
  readonly schema: JsonSchema;
  /** How to show each field, as react-jsonschema-form takes it. */
  readonly uiSchema: JsonObject;
  /** What is in force, defaults filled in; no secret. */
  readonly values: JsonObject;
  /** Which fields belong into sensitive_config, and which of them are set. */
  readonly sensitiveFields: readonly string[];
  readonly sensitiveFieldsSet: readonly string[];
  readonly auth: JsonObject | null;
}

export interface RewrapReport {
  readonly rewrapped: number;
  /** Of those that another key has wrapped still. */
  readonly left: number;
}

export interface SecretKeysReport {
  readonly provider: string;
  readonly keys: readonly {
    readonly keyId: string;
    readonly isCurrent: boolean;
    /** False: this gateway does not have it. */
    readonly isHere: boolean;
    readonly secrets: number;
  }[];
}

/**
 * What is changed is in force here when the promise resolves, and on every other replica within five seconds, as long as
 * they can read the database. Rejects with ToolFailure: PERMISSION_DENIED, NOT_FOUND for another tenant's and for what is
 * not there, VALIDATION, CONFLICT, UNAVAILABLE.
 */
export interface AgentControl {
  list(
    by: Principal,
    query: { tenant: OfTenant; limit: number; after: string | undefined },
  ): Promise<readonly AgentRecord[]>;
  get(by: Principal, who: AgentWho): Promise<AgentRecord>;
  create(by: Principal, who: AgentWho, description: string): Promise<AgentRecord>;
  describe(
    by: Principal,
    who: AgentWho,
    description: string,
    ifRevision: number | undefined,
  ): Promise<AgentRecord>;
  delete(by: Principal, who: AgentWho, ifRevision: number | undefined): Promise<AgentRecord>;
  tools(by: Principal, who: AgentWho): Promise<readonly AgentToolRecord[]>;
  tool(by: Principal, who: AgentToolWho): Promise<AgentToolRecord>;
  /**
   * `replace`: what the edit leaves out is as if never set, but for secrets, which nobody can read to send them again, and
   * whether it is switched off.
   */
  setTool(
    by: Principal,
    who: AgentToolWho,
    edit: AgentToolEdit,
    how: { readonly replace: boolean; readonly ifRevision: number | undefined },
  ): Promise<AgentToolRecord>;
  deleteTool(by: Principal, who: AgentToolWho, ifRevision: number | undefined): Promise<AgentToolRecord>;
  form(by: Principal, who: AgentToolWho): Promise<ConfigForm>;
}

/** The keys that secrets are encrypted with: the platform's, of all tenants at once. */
export interface SecretKeyControl {
  keys(): Promise<SecretKeysReport>;
  /** Makes a new key, which is the current one from now on. */
  rotate(): Promise<SecretKeysReport>;
  /** One batch: to be asked again while something is left. */
  rewrap(): Promise<RewrapReport>;
}
