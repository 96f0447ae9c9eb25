#!/usr/bin/env node
// A small MCP server over stdio, without a library: it keeps notes in the folder that it is given.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [folder = '.'] = process.argv.slice(2);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const string = { type: 'string' };

const TOOLS = [
  {
    name: 'list_notes',
    description: 'Lists the titles of all notes.',
    inputSchema: { type: 'object', properties: {} },
    outputSchema: {
      type: 'object',
      properties: { titles: { type: 'array', items: string } },
      required: ['titles'],
    },
  },
  {
    name: 'read_note',
    description: 'Reads one note.',
    inputSchema: { type: 'object', properties: { title: string }, required: ['title'] },
  },
  {
    name: 'write_note',
    description: 'Writes one note.',
    inputSchema: { type: 'object', properties: { title: string, text: string }, required: ['title', 'text'] },
  },
];

const text = (words) => ({ content: [{ type: 'text', text: words }] });

function call(name, { title = '', text: words = '' }) {
  if (name === 'list_notes') {
    const titles = readdirSync(folder).map((file) => file.replace(/\.txt$/, ''));
    return { ...text(titles.join('\n')), structuredContent: { titles } };
  }
  // No check of the title at all: the sandbox is what keeps this server in its folder.
  const file = join(folder, `${title}.txt`);
  if (name === 'read_note') return text(readFileSync(file, 'utf8'));
  writeFileSync(file, words);
  return text(`Noted under ${title}.`);
}

function answer({ method, params = {} }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'notes', version: '1.0.0' },
      };
    case 'tools/list':
      return { tools: TOOLS };
    case 'tools/call':
      try {
        return call(params.name, params.arguments ?? {});
      } catch (error) {
        return { ...text(error.message), isError: true };
      }
    default:
      return undefined;
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) return;
  const result = answer(message);
  const { id } = message;
  say(result === undefined ? { id, error: { code: -32601, message: 'Method not found' } } : { id, result });
});
