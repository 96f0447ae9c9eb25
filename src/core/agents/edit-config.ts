// What becomes of a configuration by an edit: merged or replaced, held to the tool's config_schema, its secrets sealed.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type { Violation } from '../../lib/json-schema/validator.ts';
import type { AgentToolEdit } from '../../ports/agents/agent-control.ts';
import type { AgentToolConfig, AgentToolKey } from '../../ports/agents/agent-store.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import { configRulesOf } from './config-rules.ts';

/** What is there, with those of its secrets that an edit may keep. */
export interface CurrentTool extends AgentToolConfig {
  readonly secrets: JsonObject;
}

export interface MergedConfig {
  readonly isEnabled: boolean;
  readonly config: JsonObject;
  readonly secrets: JsonObject;
  readonly schemaHash: string;
}

/** Of the config and of each secret: every replica holds them in memory. */
const MOST_BYTES = 8 * 1024;
const MOST_FIELDS = 64;

/**
 * `replace`: what it leaves out is as if never set, but secrets and whether it is switched off, which stay. Otherwise members are merged, and null takes
 * one out. Throws ToolFailure VALIDATION.
 */
export function mergedEdit(
  spec: ToolSpec,
  edit: AgentToolEdit,
  replace: boolean,
  current: CurrentTool | undefined,
): MergedConfig {
  // Whoever changes something else does not switch on what was switched off.
  const isEnabled = edit.isEnabled ?? current?.isEnabled ?? true;
  const config = replace ? (edit.config ?? {}) : patched(current?.config ?? {}, edit.config);
  const kept = current?.secrets ?? {};
  const secrets =
    replace && edit.sensitiveConfig !== undefined
      ? edit.sensitiveConfig
      : patched(kept, edit.sensitiveConfig);
  const rules = configRulesOf(spec);
  const violations = [
    ...tooLarge(config, secrets),
    ...(rules === undefined ? takesNone(config, secrets) : rules.violations(config, secrets, isEnabled)),
  ];
  if (violations.length > 0) throw misfit(violations);
  return { isEnabled, config, secrets, schemaHash: isEnabled ? (rules?.hash ?? '') : '' };
}

/** What stays the same stays sealed as it is. */
export async function sealedFor(
  sealer: SecretSealer,
  key: AgentToolKey,
  { secrets }: MergedConfig,
  current: CurrentTool | undefined,
): Promise<AgentToolConfig['sealed']> {
  const sealed = Object.entries(secrets).map(async ([field, value]) => {
    const before = current?.sealed[field];
    const isKept = before !== undefined && current?.secrets[field] === value;
    return [field, isKept ? before : await sealer.seal(JSON.stringify(value), { ...key, field })] as const;
  });
  return Object.fromEntries(await Promise.all(sealed));
}

/** As JSON Merge Patch (RFC 7396) does it to the members of the root. */
function patched(before: JsonObject, changes: JsonObject = {}): JsonObject {
  return Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null));
}

function takesNone(config: JsonObject, secrets: JsonObject): readonly Violation[] {
  const message = 'must be left out or empty: the tool has no config_schema';
  return [
    ...(Object.keys(config).length === 0 ? [] : [{ pointer: '/config', message }]),
    ...(Object.keys(secrets).length === 0 ? [] : [{ pointer: '/sensitive_config', message }]),
  ];
}

function tooLarge(config: JsonObject, secrets: JsonObject): readonly Violation[] {
  const size = (value: JsonObject) => Buffer.byteLength(JSON.stringify(value));
  return [
    ...(size(config) > MOST_BYTES
      ? [{ pointer: '/config', message: `must be at most ${MOST_BYTES} bytes of JSON` }]
      : []),
    ...(size(secrets) > MOST_BYTES
      ? [{ pointer: '/sensitive_config', message: `must be at most ${MOST_BYTES} bytes of JSON` }]
      : []),
    ...(Object.keys(secrets).length > MOST_FIELDS
      ? [{ pointer: '/sensitive_config', message: `must have at most ${MOST_FIELDS} fields` }]
      : []),
  ];
}

function misfit(violations: readonly Violation[]): ToolFailure {
  const told = violations.slice(0, 20).map(({ pointer, message }) => ({ pointer, message }));
  const sentences = told.slice(0, 3).map(({ pointer, message }) => `${pointer} ${message}`);
  const message = `The configuration does not fit the tool's config_schema: ${sentences.join('; ')}.`;
  return toolFailure('CONFIG_MISMATCH', message, { details: { violations: told } });
}
