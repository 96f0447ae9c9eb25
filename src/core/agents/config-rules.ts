// ConfigRules: what a tool asks of the configuration of an agent, made once for each spec.
import { isJsonObject, type JsonObject, type JsonSchema } from '../../contract/json.ts';
import { CREDENTIALS, NEEDED_CREDENTIALS } from '../../contract/tool/credentials.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { sensitiveMembers } from '../../lib/json-schema/sensitive-members.ts';
import { createValidator, type Validator, type Violation } from '../../lib/json-schema/validator.ts';

export interface ConfigRules {
  /** Of config and sensitive_config together, closed, with the credential that `auth` asks for. */
  readonly schema: JsonSchema;
  /** Changes with all that a configuration is held to. */
  readonly hash: string;
  readonly isSecret: (field: string) => boolean;
  readonly secretFields: readonly string[];
  /** Nothing has to be set: the defaults are enough. */
  readonly isOptional: boolean;
  /** `isComplete` false: what is required may be missing. Pointers begin with /config or /sensitive_config. */
  violations(config: JsonObject, secrets: JsonObject, isComplete: boolean): readonly Violation[];
}

const known = new WeakMap<ToolSpec, ConfigRules>();

/** Undefined: the tool takes no configuration. */
export function configRulesOf(spec: ToolSpec): ConfigRules | undefined {
  if (spec.configSchema === undefined && spec.auth === undefined) return undefined;
  let rules = known.get(spec);
  if (rules === undefined) known.set(spec, (rules = makeRules(spec)));
  return rules;
}

function makeRules({ configSchema, auth }: ToolSpec): ConfigRules {
  const schema = wholeSchema(configSchema ?? { type: 'object' }, auth);
  const secretFields = sensitiveMembers(schema);
  const named = new Set(secretFields);
  const isManaged = auth?.managed !== undefined;
  const isAnySecret = auth !== undefined && auth.type === undefined;
  const properties = propertiesOf(schema);
  const isSecret = (field: string) => named.has(field) || (isAnySecret && !Object.hasOwn(properties, field));
  const complete = createValidator(schema);
  const partial = createValidator(withoutDemands(schema));
  const violations: ConfigRules['violations'] = (config, secrets, isComplete) => {
    const misplaced = misplacedFields(config, secrets, isSecret, secretFields);
    if (misplaced.length > 0) return misplaced;
    const own = isAnySecret ? onlyNamed(secrets, named) : secrets;
    const found = check(isComplete ? complete : partial, { ...defaultsOf(properties), ...config, ...own });
    const told = found.map((each) => placed(each, isSecret));
    const hasCredential = !isAnySecret || Object.keys(secrets).length > 0;
    return hasCredential || !isComplete
      ? told
      : [...told, { pointer: '/sensitive_config', message: 'must hold the credential' }];
  };
  const hash = canonicalHash([schema, isAnySecret]);
  // An account is connected for an agent, whether there is anything else to set or not.
  const isOptional = !isManaged && violations({}, {}, true).length === 0;
  return { schema, hash, isSecret, secretFields, isOptional, violations };
}

/** What nobody declared is refused, as in arguments, unless the schema itself says what becomes of it. */
function wholeSchema(written: JsonSchema, auth: ToolSpec['auth']): JsonSchema {
  const type = auth?.managed === undefined ? auth?.type : undefined;
  const required = Array.isArray(written['required']) ? written['required'] : [];
  const merged: JsonSchema = {
    ...written,
    properties: { ...(type && CREDENTIALS[type]), ...propertiesOf(written) },
    required: [...new Set([...required, ...(type === undefined ? [] : NEEDED_CREDENTIALS[type])])],
  };
  const saysItself = 'additionalProperties' in merged || 'unevaluatedProperties' in merged;
  return saysItself ? merged : { ...merged, unevaluatedProperties: false };
}

/** For a configuration that is switched off and not complete yet. */
function withoutDemands(schema: JsonSchema): JsonSchema {
  const { required: _required, dependentRequired: _dependent, minProperties: _least, ...rest } = schema;
  return rest;
}

/** It has the schema's own defaults by now; a copy, since a validator may fill in more. */
function check(validator: Validator, value: JsonObject): readonly Violation[] {
  return validator.validate(structuredClone(value));
}

function misplacedFields(
  config: JsonObject,
  secrets: JsonObject,
  isSecret: ConfigRules['isSecret'],
  secretFields: readonly string[],
): readonly Violation[] {
  const known = secretFields.length === 0 ? 'this tool has none' : `known: ${secretFields.join(', ')}`;
  return [
    ...Object.keys(config)
      .filter(isSecret)
      .map((field) => ({
        pointer: pointerTo('config', field),
        message: 'is a secret: it belongs into sensitive_config',
      })),
    ...Object.keys(secrets)
      .filter((field) => !isSecret(field))
      .map((field) => ({
        pointer: pointerTo('sensitive_config', field),
        message: `is not a secret of this tool (${known})`,
      })),
  ];
}

function placed({ pointer, message }: Violation, isSecret: ConfigRules['isSecret']): Violation {
  const [field = '', ...rest] = pointer.split('/').slice(1);
  const name = field.replaceAll('~1', '/').replaceAll('~0', '~');
  const part = name !== '' && isSecret(name) ? 'sensitive_config' : 'config';
  return { pointer: [pointerTo(part, name), ...rest].join('/').replace(/\/$/, ''), message };
}

function pointerTo(part: string, field: string): string {
  return `/${part}/${field.slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function propertiesOf({ properties }: JsonSchema): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function defaultsOf(properties: JsonObject): JsonObject {
  const entries = Object.entries(properties).map(
    ([name, each]) => [name, isJsonObject(each) ? each['default'] : undefined] as const,
  );
  return Object.fromEntries(
    entries.filter((entry): entry is [string, NonNullable<(typeof entry)[1]>] => entry[1] !== undefined),
  );
}

function onlyNamed(secrets: JsonObject, named: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(secrets).filter(([field]) => named.has(field)));
}
