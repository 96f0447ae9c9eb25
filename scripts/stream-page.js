// The reference page of streams: every message of both sides, from the schemas that they are read and written by.
import { z } from 'zod';
import { CLIENT_MESSAGES } from '../dist/api/stream/messages/client-messages.js';
import { SERVER_MESSAGES } from '../dist/api/stream/messages/server-messages.js';

const COLUMNS = ['field', 'type', '', 'meaning'];

/** `note`: stands before everything. `typeOf`: how other pages write a type. */
export function streamPage(note, table, typeOf) {
  const said = Object.entries(CLIENT_MESSAGES).map(([type, of]) => messagePart(type, of(), table, typeOf));
  const heard = Object.entries(SERVER_MESSAGES).map(([type, of]) => messagePart(type, of(), table, typeOf));
  return (
    `${note}# Messages of streams\n\nOf a WebSocket at \`/v1/stream\` (subprotocol \`ute.v1\`): one JSON object in each text frame. Over gRPC the same ` +
    `is said in [Converse](../../proto/unified_tool_executor/v1/stream.proto). What they mean together: [streams](../stream.md).\n\n` +
    `## What a client says\n\nA field that is not known is refused.\n${said.join('')}\n` +
    `## What the gateway says\n\nMore fields may come: a client ignores what it does not know.\n${heard.join('')}`
  );
}

function messagePart(type, schema, table, typeOf) {
  const {
    description,
    properties,
    required = [],
  } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  });
  const rows = Object.entries(properties)
    .filter(([name]) => name !== 'type')
    .map(([name, property]) => [
      `\`${name}\``,
      typeOf(property),
      required.includes(name) ? 'always' : '',
      property.description ?? '',
    ]);
  const fields = rows.length === 0 ? '' : `\n${table(COLUMNS, rows)}`;
  return `\n### \`${type}\`\n\n${description}\n${fields}`;
}
