// The messages of streams as JSON Schemas, for the types of the SDKs: what they hold of calls and sessions is named as in the OpenAPI document.
import { z } from 'zod';
import { CLIENT_MESSAGES } from '../../dist/api/stream/messages/client-messages.js';
import { SERVER_MESSAGES } from '../../dist/api/stream/messages/server-messages.js';

const named = (name) => ({ $ref: `#/components/schemas/${name}` });
const NAMED = {
  session: named('Session'),
  meta: named('Meta'),
  intents: { type: 'array', items: named('Intent') },
  budgets: { type: 'array', items: named('SessionBudget') },
};

export function streamMessages() {
  return { client: schemasOf(CLIENT_MESSAGES), server: schemasOf(SERVER_MESSAGES) };
}

function schemasOf(messages) {
  return Object.fromEntries(Object.entries(messages).map(([type, of]) => [type, schemaOf(type, of())]));
}

function schemaOf(type, schema) {
  const { properties, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const better = Object.entries(properties).map(([name, property]) => [name, betterOf(type, name, property)]);
  return { ...rest, properties: Object.fromEntries(better) };
}

function betterOf(type, name, property) {
  const { description } = property;
  if (type === 'tool_result' && name === 'error') return { ...named('ToolError'), description };
  if (type === 'error' && name === 'error') {
    const { type: _, ...others } = property.properties;
    return { ...property, properties: { type: named('ErrorType'), ...others } };
  }
  return name in NAMED ? { ...NAMED[name], description } : property;
}
