// What may be set per agent: names of the members of config, and of sensitive_config.
import type { JsonObject } from '../../../contract/json.ts';
import { ACCESS_TOKEN, CREDENTIALS } from '../../../contract/tool/credentials.ts';
import { sensitiveMembers } from '../../../lib/json-schema/sensitive-members.ts';
import type { SpecRules } from '../../spec-rules.ts';
import { authOf, managedAuthOf, type DeclaredAuth } from './auth-fields.ts';
import { propertyNames, type AgentFields } from '../check-executor.ts';
import { asConfigSchema } from '../check-schemas.ts';

interface Declared extends DeclaredAuth {
  readonly config_schema?: Record<string, unknown> | undefined;
}

export function agentFields(declared: Declared, providers?: SpecRules['oauthProviders']): AgentFields {
  const { config_schema: written } = declared;
  const schema = written === undefined ? {} : asConfigSchema(written as JsonObject).schema;
  const secrets = sensitiveMembers(schema);
  const auth = authOf(declared);
  const isManaged = managedAuthOf(auth, providers) !== undefined;
  const ofType = auth?.type === undefined ? [] : Object.keys(CREDENTIALS[auth.type]);
  const credentials = isManaged ? [ACCESS_TOKEN] : ofType;
  const isAny = auth !== undefined && auth.type === undefined;
  return {
    config: propertyNames(schema).filter((name) => !secrets.includes(name)),
    sensitive_config: isAny ? undefined : [...new Set([...secrets, ...credentials])],
  };
}
