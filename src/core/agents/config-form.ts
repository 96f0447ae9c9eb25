// A form for the configuration of a tool: its JSON Schema, how to show each field, and what is set by now.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type { ConfigForm } from '../../ports/agents/agent-control.ts';
import type { AgentToolConfig } from '../../ports/agents/agent-store.ts';
import { configRulesOf } from './config-rules.ts';

/** Longer texts get more than one line. */
const LONG_TEXT = 200;

/** `configured` undefined: nothing is, and the values are the defaults. */
export function configForm(
  agent: string,
  spec: ToolSpec,
  configured: AgentToolConfig | undefined,
): ConfigForm {
  const rules = configRulesOf(spec);
  const schema = rules?.schema ?? { type: 'object', properties: {}, unevaluatedProperties: false };
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const sensitiveFieldsSet = Object.keys(configured?.sealed ?? {}).toSorted();
  const isSecret = (field: string) => rules?.isSecret(field) === true;
  return {
    agent,
    tool: spec.name,
    schema,
    uiSchema: uiSchemaOf(properties, isSecret),
    values: { ...shownDefaults(properties, isSecret), ...configured?.config },
    sensitiveFields: rules?.secretFields ?? [],
    sensitiveFieldsSet,
    auth: spec.auth === undefined ? null : { type: spec.auth.type ?? null, ...spec.auth.config },
  };
}

function uiSchemaOf(properties: JsonObject, isSecret: (field: string) => boolean): JsonObject {
  const fields = Object.entries(properties).map(([name, property]) => {
    const schema = isJsonObject(property) ? property : {};
    const { title, description } = schema;
    const hints: JsonObject = {
      'ui:widget': isSecret(name) ? 'password' : widgetOf(schema),
      'ui:title': typeof title === 'string' ? title : titleOf(name),
      ...(typeof description === 'string' && { 'ui:help': description }),
      ...(isSecret(name) && { 'ui:options': { sensitive: true, writeOnly: true } }),
    };
    return [name, hints] as const;
  });
  return { 'ui:order': [...Object.keys(properties), '*'], ...Object.fromEntries(fields) };
}

function widgetOf({ type, enum: words, format, maxLength }: JsonObject): string {
  if (Array.isArray(words)) return 'select';
  if (type === 'boolean') return 'checkbox';
  if (type === 'integer' || type === 'number') return 'updown';
  if (type === 'object' || type === 'array') return 'json';
  const known: JsonValue = { uri: 'uri', email: 'email', date: 'date', 'date-time': 'date-time' };
  if (typeof format === 'string' && Object.hasOwn(known, format)) return known[format] as string;
  return typeof maxLength === 'number' && maxLength > LONG_TEXT ? 'textarea' : 'text';
}

function titleOf(name: string): string {
  const words = name.replaceAll(/[_.-]+/g, ' ').trim();
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

function shownDefaults(properties: JsonObject, isSecret: (field: string) => boolean): JsonObject {
  const shown = Object.entries(properties).flatMap(([name, property]) => {
    const fallback = isJsonObject(property) ? property['default'] : undefined;
    return fallback === undefined || isSecret(name) ? [] : [[name, fallback] as const];
  });
  return Object.fromEntries(shown);
}
